"""Frame: what `blox top` shows of a moment, and how it looks in a terminal of so many columns and lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from blox.report import colours

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

FREE, DOWN = -1, -2  # in the place of a job: nothing holds the GPU; its node is down
_BAR = 30  # characters
_HEADER_LINES = 6  # with the lines around the map
_TABLE_LINES = 4  # of a list, beside its rows
_LEAST_ROWS = 3
_MOST_OF_A_ROW = 4  # a column has at most one part in so many, but for the last


@dataclass(frozen=True)
class Node:
    """A node: what is on each of its GPUs, and anything odd about it."""

    name: str
    owners: Sequence[int]
    note: str = ""


@dataclass(frozen=True)
class Listed:
    """A list of jobs: its title with the number of all of them, heads, and rows as far as they are known.

    `total`: that number, where more than the rows that are known.
    """

    title: str
    heads: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    note: str = ""
    total: int = 0

    def shown(self, lines: int) -> tuple[Sequence[Sequence[str]], int]:
        """The rows that so many lines hold, and how many jobs are left; a line is kept to say so."""
        total = max(self.total, len(self.rows))
        rows = self.rows[: lines if total <= lines else lines - 1]
        return rows, total - len(rows)


@dataclass(frozen=True)
class Frame:
    """A moment of a cluster."""

    title: str
    facts: Sequence[str]
    nodes: Sequence[Node]
    lists: Sequence[Listed] = field(default_factory=tuple)
    warning: str = ""

    @property
    def used(self) -> int:
        return sum(owner >= 0 for node in self.nodes for owner in node.owners)

    @property
    def gpus(self) -> int:
        return sum(len(node.owners) for node in self.nodes)

    @property
    def down(self) -> int:
        """GPUs of nodes that are down, or gone."""
        return sum(owner == DOWN for node in self.nodes for owner in node.owners)


def drawn(frame: Frame, width: int, height: int) -> RenderableType:
    """The frame for a terminal: header, map of the GPUs, then lists that share the lines that are left."""
    from rich.console import Group
    from rich.text import Text

    header = Text(frame.title, style="bold")
    header.append(f"\nGPUs {_bar(frame.used, frame.gpus)} {frame.used:,} of {frame.gpus:,} in use")
    header.append(f", {frame.down:,} on nodes that are down\n" if frame.down else "\n")
    header.append(" · ".join(frame.facts), style="dim")
    if frame.warning:
        header.append(f"\n{frame.warning}", style="bold red")
    chart, lines = _map(frame.nodes, width, max(height // 3, _LEAST_ROWS))
    left = height - _HEADER_LINES - lines - _TABLE_LINES * len(frame.lists)
    each = max(left // max(len(frame.lists), 1), _LEAST_ROWS)
    tables = [part for found in frame.lists for part in (_table(found, width, each), Text())]
    return Group(header, Text(), chart, *tables[:-1])


def _bar(part: int, whole: int) -> str:
    filled = round(_BAR * part / whole) if whole else 0
    return "█" * filled + "░" * (_BAR - filled)


def _map(nodes: Sequence[Node], width: int, most_lines: int) -> tuple[Text, int]:
    """Every GPU as a cell in the colour of its job, nodes side by side; how many lines that takes."""
    from rich.text import Text

    named = max((len(node.name) for node in nodes), default=0)
    cells = max((len(node.owners) for node in nodes), default=0)
    room = named + cells + 3
    across = max(width // room, 1)
    shown = nodes[: across * most_lines]
    chart = Text(no_wrap=True)
    for at, node in enumerate(shown):
        chart.append(f"{node.name:<{named}} ", style="dim")
        for owner in node.owners:
            chart.append_text(_cell(owner))
        chart.append(" " * (cells - len(node.owners) + 2))
        if (at + 1) % across == 0 or at + 1 == len(shown):
            chart.append("\n")
    odd = [f"{node.name}: {node.note}" for node in nodes if node.note]
    more = [f"and {len(nodes) - len(shown):,} more nodes"] if len(shown) < len(nodes) else []
    if odd or more:
        chart.append(", ".join([*odd[:4], *more])[: width - 1] + "\n", style="dim")
    return chart, -(-len(shown) // across) + bool(odd or more)


def _cell(owner: int) -> Text:
    from rich.text import Text

    if owner == DOWN:
        return Text("x", style="red")
    return Text("·", style="dim") if owner == FREE else Text("■", style=colours.of_job(owner))


def _table(found: Listed, width: int, lines: int) -> Table:
    """A list in so many columns and lines of rows. The last column has what the others leave."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    rows, left = found.shown(lines)
    table = Table(
        title=f"{found.title}{f' ({found.note})' if found.note else ''}",
        title_justify="left",
        title_style="bold",
        caption=f"and {left:,} more" if left else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        expand=True,
    )
    *heads, last = found.heads
    for head in heads:
        table.add_column(head, no_wrap=True, overflow="ellipsis", max_width=width // _MOST_OF_A_ROW)
    table.add_column(last, no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        table.add_row(*(Text(" ".join(cell.split())) for cell in row))  # a name can hold lines and markup
    return table
