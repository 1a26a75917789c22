"""A sheet in the terminal: heads in short words; what is too wide goes on in a table below."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from blox.report.labels import folded
from blox.report.sheet import Column, Sheet
from blox.report.table import Label

if TYPE_CHECKING:
    from rich.table import Table

_WIDEST_HEAD = 12
_WIDEST_NAME = 24  # of a run; longer ones are folded where there is no room
_SHORT = {
    "average": "avg",
    "responsiveness": "resp.",
    "utilisation": "util.",
    "interruptions": "inter-\nrupt.",
    "slowdown": "slow-\ndown",
    "deadlines": "dead-\nlines",
}


def sheet_tables(sheet: Sheet, width: int) -> Iterator[Table]:
    """The sheet as tables of at most so many characters a line, each with the names of the rows."""
    names = sum(
        max([len(head), *(min(len(row.names[at]), _WIDEST_NAME) for row in sheet.rows)]) + 2
        for at, head in enumerate(sheet.heads)
    )
    part: list[Column] = []
    taken = names
    for column in sheet.columns:
        needed = max(len(line) for line in (*_head(column).split("\n"), *column.texts)) + 2
        if part and taken + needed > width:
            yield _table(sheet.with_columns(part))
            part, taken = [], names
        part.append(column)
        taken += needed
    if part:
        yield _table(sheet.with_columns(part))


def _table(sheet: Sheet) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    for head in sheet.heads:
        table.add_column(head, overflow="fold", min_width=min(len(head), _WIDEST_HEAD))
    for column in sheet.columns:
        table.add_column(Text(_head(column), justify="right"), justify="right", no_wrap=True)
    for position, row in enumerate(sheet.rows):
        names = list(row.names)
        if len(names) > 1 and position and sheet.rows[position - 1].names[0] == names[0]:
            names[0] = ""  # a group is named once
        cells = [
            Text(column.texts[position], style="bold green" if position in column.best else "")
            for column in sheet.columns
        ]
        table.add_row(*map(Label, names), *cells)
    return table


def _head(column: Column) -> str:
    group, name = column.measure.group, column.measure.name
    if group.startswith("p95 by GPUs"):
        group, name = "p95 of", f"{name}\nGPU{'s' if name != '1' else ''}"
    words = ["\n".join(_lines(word)) for word in (group, name) if word]
    return "\n".join([*words, column.unit] if column.unit else words)


def _lines(word: str) -> list[str]:
    """A word of a head in short lines."""
    lines = _SHORT.get(word, word).split("\n")
    return [piece for line in lines for piece in folded(line, _WIDEST_HEAD)]
