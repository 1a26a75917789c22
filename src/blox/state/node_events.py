"""NodeEvent: a machine comes, is about to go, or goes. Its state, and what becomes of the jobs on it."""

from __future__ import annotations

from typing import Literal, NamedTuple

# up: takes jobs. draining: keeps the jobs it has and takes no other. down: has none.
NodeState = Literal["up", "draining", "down"]
STATES: tuple[NodeState, ...] = ("up", "draining", "down")  # by severity


class NodeEvent(NamedTuple):
    """From `time_s` on, a node is in another state.

    `announced`: the node goes down as was told ahead, and its jobs have saved all of their work by then.
    """

    time_s: float
    node: int
    state: NodeState
    announced: bool = False
