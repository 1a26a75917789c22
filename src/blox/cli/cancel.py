"""`blox cancel`: ends jobs."""

from __future__ import annotations

from typing import Annotated

import typer

from blox.cli.cluster_tables import AsJson, Directory, client, say_json
from blox.cli.terminal import say
from blox.errors import BloxError


def cancel(
    job: Annotated[list[int], typer.Argument(metavar="ID...")],
    cluster: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Cancel jobs: each is killed, with everything that it started, and not started again.

    Those that cannot be cancelled are named at the end; the others are.
    """
    asked = client(cluster)
    from blox.cluster.api import RequestRefused

    cancelled: list[int] = []
    refused: list[BloxError] = []
    for number in job:
        try:
            asked.cancel(number)
        except RequestRefused as error:
            refused.append(error)
            continue
        cancelled.append(number)
        if not as_json:
            say(f"job {number} is cancelled")
    if as_json:
        say_json({"cancelled": cancelled})
    if refused:
        raise _all_of(refused)


def _all_of(refused: list[BloxError]) -> BloxError:
    """What was refused, in one piece; the fix of the first that has one."""
    fix = next((error.fix for error in refused if error.fix), "")
    return BloxError("; ".join(error.what for error in refused), where="cancel", fix=fix)
