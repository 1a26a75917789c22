"""`blox cancel`: ends jobs."""

from __future__ import annotations

from typing import Annotated

import typer

from blox.cli.cluster_tables import AsJson, Directory, client, say_json
from blox.cli.terminal import say


def cancel(
    job: Annotated[list[int], typer.Argument(metavar="ID...")],
    cluster: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Cancel jobs: each is killed, with everything that it started, and not started again."""
    asked = client(cluster)
    for number in job:
        asked.cancel(number)
        if not as_json:
            say(f"job {number} is cancelled")
    if as_json:
        say_json({"cancelled": job})
