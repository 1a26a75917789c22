"""Outages that are listed beforehand, as node events: what a trace and a drain have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blox.durations import NEVER, duration_text
from blox.errors import BloxError
from blox.failures.timeline import worst_states
from blox.state.cluster_spec import ClusterSpec
from blox.state.node_events import NodeEvent


class Outage(NamedTuple):
    """A node is down from `down_s` until `up_s` (inf: for good). `notice_s`: announced so long before; None:
    a failure, of which there is no warning. `where` names its place in the input."""

    node: int
    down_s: float
    up_s: float
    notice_s: float | None = None
    where: str = ""

    @property
    def announced(self) -> bool:
        return self.notice_s is not None

    @property
    def known_s(self) -> float:
        """From when on it is known: from its notice on, a failure from when it happens (s)."""
        return max(0.0, self.down_s - (self.notice_s or 0.0))

    def as_known(self, now: float) -> Outage:
        """The same as known at `now` (s): a failure that goes on then has no end."""
        return self if self.announced or self.up_s <= now else self._replace(up_s=NEVER)


def node_number(name: str, cluster: ClusterSpec, *, where: str) -> int:
    """The number of a node, given by its name or by that number."""
    names = [node.name for node in cluster.nodes]
    if name in names:
        return names.index(name)
    if name.isdecimal() and int(name) < len(names):
        return int(name)
    raise BloxError(
        f"no node is called {name!r}",
        where=where,
        fix=f"the cluster has {names[0]} to {names[-1]}, or by number 0 to {len(names) - 1}",
    )


def events_of(outages: Iterable[Outage], cluster: ClusterSpec) -> Iterator[NodeEvent]:
    """The events of outages, in order of time. Two outages of one node must not overlap."""
    last: dict[int, Outage] = {}
    ordered = sorted(outages, key=lambda each: (each.down_s, each.node))
    for outage in ordered:
        before = last.get(outage.node)
        if before is not None and outage.down_s < before.up_s:
            raise BloxError(
                f"{cluster.nodes[outage.node].name} goes down at {duration_text(outage.down_s)}, and is down "
                f"already, {_until(before.up_s)}" + (f" ({before.where})" if before.where else ""),
                where=outage.where,
                fix="let the outages of a node follow one another",
            )
        last[outage.node] = outage
    return _merged(ordered)


def known_events_of(outages: Iterable[Outage], now: float) -> Iterator[NodeEvent]:
    """The events of outages as known at `now` (s): those up to then, and what is announced by then.

    When a node that has failed is back is known once it is.
    """
    return _merged([outage.as_known(now) for outage in outages if outage.known_s <= now])


def _merged(outages: Iterable[Outage]) -> Iterator[NodeEvent]:
    """The events of all outages, in order of time."""
    events = [(number, event) for number, outage in enumerate(outages) for event in _events(outage)]
    return worst_states(sorted(events, key=lambda each: (each[1].time_s, each[1].node)))


def _events(outage: Outage) -> Iterator[NodeEvent]:
    node, down_s, up_s, notice_s, _ = outage
    if notice_s:
        yield NodeEvent(outage.known_s, node, "draining")
    yield NodeEvent(down_s, node, "down", outage.announced)
    if up_s < NEVER:
        yield NodeEvent(up_s, node, "up")


def _until(up_s: float) -> str:
    return "for good" if up_s == NEVER else f"until {duration_text(up_s)}"
