"""`blox drain`: takes a node out, or back in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli.cluster_tables import AsJson, Directory, client, say_json
from blox.cli.terminal import say

if TYPE_CHECKING:
    from blox.state.node_events import NodeState


def drain(
    node: Annotated[str, typer.Argument(metavar="NODE")],
    now: Annotated[bool, typer.Option("--now", help="Its jobs leave at once, and go on elsewhere.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="It takes jobs again.")] = False,
    cluster: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Let a node take no further jobs; those it has stay until they end, or leave with --now."""
    from blox.errors import BloxError

    if now and undo:
        raise BloxError("--now together with --undo", where="blox drain", fix="give one of them")
    state: NodeState = "up" if undo else "down" if now else "draining"
    client(cluster).set_node(node, state)
    if as_json:
        say_json({"node": node, "state": state})
        return
    say(f"{node} " + ("takes jobs" if undo else "is left by its jobs" if now else "takes no more jobs"))
