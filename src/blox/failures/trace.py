from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from blox.durations import parse_duration
from blox.errors import BloxError
from blox.failures.outages import Outage, events_of, known_events_of, node_number
from blox.registry import register
from blox.state.cluster_spec import ClusterSpec
from blox.state.node_events import NodeEvent
from blox.workloads.text_files import read_text

_NEEDED, _OPTIONAL = ("node", "down", "up"), ("notice",)


@register.failures("trace")
@dataclass(frozen=True)
class Trace:
    """Outages from a CSV file with the columns node, down, up: `trace:outages.csv`.

    `node` is a name or a number. `down` and `up` are times from the start of the run: seconds, or 36h, 2.5d;
    an empty `up` means that the node never comes back. An optional column `notice` says how long ahead an
    outage was announced: it is then a drain. Lines may be in any order.
    """

    path: str

    def node_events(self, cluster: ClusterSpec, seed: int) -> Iterator[NodeEvent]:
        return events_of(self._outages(cluster), cluster)

    def known_events(self, cluster: ClusterSpec, seed: int, now: float) -> Iterator[NodeEvent]:
        return known_events_of(self._outages(cluster), now)

    @cached_property
    def _rows(self) -> list[list[str]]:
        """The cells of the file, which is read once: a look ahead knows the outages of its run."""
        return list(csv.reader(io.StringIO(read_text(self.path), newline="")))

    def _outages(self, cluster: ClusterSpec) -> list[Outage]:
        """The lines of the file, in its order."""
        rows = self._rows
        head = [cell.strip() for cell in rows[0]] if rows else []
        self._check_head(head)
        outages = []
        for line, cells in enumerate(rows[1:], 2):
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{self.path}:{line}"
            if len(cells) != len(head):
                raise BloxError(
                    f"{len(cells)} cells", where=where, fix=f"write {len(head)}: {','.join(head)}"
                )
            outages.append(_outage(dict(zip(head, map(str.strip, cells))), cluster, where))
        return outages

    def _check_head(self, head: list[str]) -> None:
        strange = [name for name in head if name not in (*_NEEDED, *_OPTIONAL)]
        missing = [name for name in _NEEDED if name not in head]
        if strange or missing or len(set(head)) < len(head):
            wrong = f"no column {missing[0]!r}" if missing else f"the columns {', '.join(head)}"
            raise BloxError(wrong, where=f"{self.path}:1", fix="the first line must be node,down,up[,notice]")


def _outage(cells: dict[str, str], cluster: ClusterSpec, where: str) -> Outage:
    node = node_number(cells["node"], cluster, where=where)
    down = parse_duration(cells["down"], where=f"{where}, down")
    up = parse_duration(cells["up"] or "never", where=f"{where}, up")
    if not up > down:
        raise BloxError(
            f"up is {cells['up']} and down {cells['down']}",
            where=where,
            fix="a node comes up after it went down",
        )
    notice = cells.get("notice")
    return Outage(node, down, up, parse_duration(notice, where=f"{where}, notice") if notice else None, where)
