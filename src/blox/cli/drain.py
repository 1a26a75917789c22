"""`blox drain`: takes a node out, or back in."""

from __future__ import annotations

from typing import Annotated

import typer

from blox.cli.cluster_tables import Directory, client
from blox.cli.terminal import say


def drain(
    node: Annotated[str, typer.Argument(metavar="NODE")],
    now: Annotated[bool, typer.Option("--now", help="Its jobs leave at once, and go on elsewhere.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="It takes jobs again.")] = False,
    cluster: Directory = None,
) -> None:
    """Let a node take no further jobs; those it has stay until they end, or leave with --now."""
    from blox.errors import BloxError

    if now and undo:
        raise BloxError("--now together with --undo", where="blox drain", fix="give one of them")
    client(cluster).set_node(node, "up" if undo else "down" if now else "draining")
    say(f"{node} " + ("takes jobs" if undo else "is left by its jobs" if now else "takes no more jobs"))
