"""A sheet in the terminal, its heads in short words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blox.report.labels import short_lines
from blox.report.sheet import Column, Sheet
from blox.report.table import figure_cells

if TYPE_CHECKING:
    from blox.report.wide_table import WideTable

_WIDEST_HEAD = 12
_SHORT_NAME = 14
_SHORT = {
    "average": "avg",
    "responsiveness": "resp.",
    "utilisation": "util.",
    "interruptions": "inter-\nrupt.",
    "slowdown": "slow-\ndown",
    "deadlines": "dead-\nlines",
}


def sheet_table(sheet: Sheet) -> WideTable:
    """The sheet for the terminal. A group is named in its first row alone; rows of runs go by the title."""
    from blox.report import wide_table

    rows = [list(row.names) for row in sheet.rows]
    for at in range(len(rows) - 1, 0, -1):
        if len(rows[at]) > 1 and rows[at][0] == rows[at - 1][0]:
            rows[at][0] = ""
    columns = [
        wide_table.Column(
            column.measure.group,
            wide_table.right(_head(column)),
            figure_cells(column.texts, column.reach, column.marks),
        )
        for column in sheet.columns
    ]
    if len(sheet.heads) == 1:
        return wide_table.WideTable([sheet.title.replace(" (", "\n(")], rows, columns)
    widest = [max((len(row[at]) for row in rows), default=0) for at in range(len(sheet.heads))]
    # A head keeps its column as wide as itself: names that are not long are not folded.
    heads = [head.ljust(min(width, _SHORT_NAME)) for head, width in zip(sheet.heads, widest)]
    return wide_table.WideTable(heads, rows, columns)


def _head(column: Column) -> str:
    group, name = column.measure.group, column.measure.name
    if group.startswith("p95 by GPUs"):
        group, name = "p95 of", f"{name}\nGPU{'s' if name != '1' else ''}"
    words = ["\n".join(_lines(word)) for word in (group, name) if word]
    return "\n".join([*words, column.unit] if column.unit else words)


def _lines(word: str) -> list[str]:
    """A word of a head in short lines."""
    lines = _SHORT.get(word, word).split("\n")
    return [piece for line in lines for piece in short_lines(line, _WIDEST_HEAD)]
