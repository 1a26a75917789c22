from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blox.durations import parse_duration
from blox.errors import BloxError, suggestion
from blox.failures.outages import Outage, events_of, node_number
from blox.registry import register
from blox.state.cluster_spec import ClusterSpec
from blox.state.node_events import NodeEvent
from blox.state.windows import Window
from blox.workloads.slurm_fields import hosts
from blox.workloads.text_files import read_toml

FIX = 'write [[reservation]], then begin = "36h", lasts = "4h" and nodes = ["gpu[01-04]"]'
_KEYS = ("name", "begin", "lasts", "nodes", "tenants", "users")


@register.failures("reserve")
@dataclass(frozen=True)
class Reserve:
    """Reservations and maintenance windows from a file: `reserve:windows.toml`.

    A reservation names nodes and a time, from the start of the run: `[[reservation]]`, then `begin = "36h"`,
    `lasts = "4h"`, `nodes = ["gpu[01-04]", "7"]`. With `tenants` or `users`, only their jobs run there then;
    with neither it is maintenance, and the nodes are down. They are planned around: another job starts on
    such a node only if it is believed to end before. One that is there all the same, since it took longer,
    stops with its work saved where nodes go down, and goes on where they are for others.
    """

    path: str

    def __post_init__(self) -> None:
        _ = self._tables

    def windows(self, cluster: ClusterSpec) -> tuple[Window, ...]:
        """The reservations, in the order of the file."""
        return tuple(self._window(number, table, cluster) for number, table in enumerate(self._tables, 1))

    def node_events(self, cluster: ClusterSpec, seed: int) -> Iterator[NodeEvent]:
        """Nodes go down for maintenance; else an event that changes nothing wakes the loop."""
        windows = self.windows(cluster)
        outages = [
            Outage(node, window.begin_s, window.end_s, 0.0, f"{self.path}, {window.name}")
            for window in windows
            if window.maintenance
            for node in window.nodes.tolist()
        ]
        wakes = [
            NodeEvent(time_s, int(window.nodes[0]), "up")
            for window in windows
            if not window.maintenance
            for time_s in (window.begin_s, window.end_s)
        ]
        down = {(outage.node, outage.down_s, outage.up_s) for outage in outages}
        harmless = [
            wake for wake in wakes if not any(n == wake.node and a <= wake.time_s < b for n, a, b in down)
        ]
        events = [*events_of(outages, cluster), *harmless]
        return iter(sorted(events, key=lambda event: (event.time_s, event.node)))

    def known_events(self, cluster: ClusterSpec, seed: int, now: float) -> Iterator[NodeEvent]:
        """All of them: reservations are known from the beginning."""
        return self.node_events(cluster, seed)

    @cached_property
    def _tables(self) -> list[Any]:
        """The reservations of the file, which is read once."""
        found = read_toml(self.path, fix=FIX).get("reservation")
        if not isinstance(found, list) or not found or not all(isinstance(each, dict) for each in found):
            raise BloxError("no reservations", where=self.path, fix=FIX)
        return found

    def _window(self, number: int, table: dict[str, Any], cluster: ClusterSpec) -> Window:
        where = f"{self.path}, [[reservation]] number {number}"
        for key in table:
            if key not in _KEYS:
                raise BloxError(f"no setting is called {key!r}", where=where, fix=suggestion(key, _KEYS))
        begin, lasts = (_seconds(table, key, where) for key in ("begin", "lasts"))
        if not lasts > 0:
            raise BloxError(f"lasts is {lasts:g} s", where=where, fix='give a time above 0: lasts = "4h"')
        names = _texts(table, "nodes", where)
        if not names:
            raise BloxError("no nodes", where=where, fix=FIX)
        numbers = sorted(
            {node_number(name, cluster, where=where) for text in names for name in _each(text, where)}
        )
        name = str(table.get("name") or f"reservation {number}")
        tenants, users = (_texts(table, key, where) for key in ("tenants", "users"))
        return Window(name, begin, begin + lasts, np.array(numbers), tenants, users)


def _seconds(table: dict[str, Any], key: str, where: str) -> float:
    value = table.get(key)
    if value is None:
        raise BloxError(f"{key} is missing", where=where, fix=FIX)
    seconds = parse_duration(str(value), where=f"{where}, {key}")
    if not seconds < 1e12:
        raise BloxError(f"{key} is {value!r}", where=where, fix=FIX)
    return float(seconds)


def _texts(table: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str | int) for each in value):
        raise BloxError(f"{key} is {value!r}", where=where, fix=f'write {key} = ["a", "b"]')
    return tuple(str(each) for each in value)


def _each(text: str, where: str) -> list[str]:
    try:
        return list(hosts(text))
    except ValueError:
        raise BloxError(
            f"nodes names {text!r}", where=where, fix='write nodes = ["gpu[01-04]", "7"]'
        ) from None
