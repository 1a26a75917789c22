"""A table for the terminal that is never cut off: what does not fit goes on in a second table below."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blox.report.labels import folded

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text


_BETWEEN = 2  # spaces between two columns
_WORD = re.compile(r"=?[^:,+ =]+[:,+]?")  # what folded() does not break
_WHOLE_WORD = 12  # a word of a label that is no longer stays whole in the narrowest table


class Label:
    """A cell with the name of a run, which folds where a reader would: not within a word."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        yield Text("\n".join(folded(self.name, options.max_width)))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        lines = folded(self.name, max(options.max_width, 1))
        return Measurement(max(map(len, folded(self.name, 1)), default=0), max(map(len, lines), default=0))


@dataclass(frozen=True)
class Column:
    """A column of figures: its head and its cells, texts of rich. Those of one `group` stay together."""

    group: str
    head: Text
    cells: Sequence[Text]

    @property
    def width(self) -> int:
        """Its widest line, and the space between columns."""
        lines = (line for cell in (self.head, *self.cells) for line in cell.plain.split("\n"))
        return max(map(len, lines), default=0) + _BETWEEN


@dataclass(frozen=True)
class WideTable:
    """Rows with folding labels and columns of figures; as many tables, one below the other, as it takes."""

    heads: Sequence[str]
    labels: Sequence[Sequence[str]]  # of each row, one per head
    columns: Sequence[Column]
    caption: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | str]:
        names = sum(width + _BETWEEN for width in self._narrowest)
        parts = self._parts(options.max_width + _BETWEEN - names)  # nothing stands behind the last column
        for number, part in enumerate(parts):
            if number:
                yield ""
            yield self._table(part, self.caption if number == len(parts) - 1 else "")

    @property
    def _narrowest(self) -> list[int]:
        """How narrow each column of labels may be: its head and its words stay whole."""
        found = []
        for at, head in enumerate(self.heads):
            words = (word for names in self.labels for word in _WORD.findall(names[at]))
            longest = max(map(len, words), default=0)
            found.append(max(len(_widest(head)), min(longest, _WHOLE_WORD)))
        return found

    def _parts(self, width: int) -> list[list[Column]]:
        """The columns in as few tables as fit, of which the widest is as narrow as can be."""
        blocks: list[list[Column]] = []
        for _, members in itertools.groupby(self.columns, key=lambda column: column.group or id(column)):
            block = list(members)
            blocks += [block] if _width(block) <= width else [[column] for column in block]
        for count in range(1, len(blocks) + 1):
            best = min(_divisions(blocks, count), key=lambda parts: max(map(_width, parts)))
            if max(map(_width, best)) <= width:
                return best
        return [list(block) for block in blocks] or [[]]

    def _table(self, columns: Sequence[Column], caption: str) -> Table:
        from rich import box
        from rich.table import Table

        table = Table(
            box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
        )
        for at, (head, width) in enumerate(zip(self.heads, self._narrowest)):
            fixed = all(
                len(names[at]) <= width for names in self.labels
            )  # rich would take width off all alike
            table.add_column(head, overflow="fold", min_width=width, no_wrap=fixed)
        for column in columns:
            table.add_column(column.head, justify="right", no_wrap=True)
        for row, names in enumerate(self.labels):
            table.add_row(*map(Label, names), *(column.cells[row] for column in columns))
        if caption:
            table.caption = caption
        return table


def right(text: str, style: str = "") -> Text:
    """A text of a column of figures."""
    from rich.text import Text

    return Text(text, style=style, justify="right")


def _widest(head: str) -> str:
    return max(head.split("\n"), key=len)


def _width(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns)


def _divisions(blocks: Sequence[list[Column]], count: int) -> Iterator[list[list[Column]]]:
    """Every way to divide blocks into so many parts, their order kept."""
    for cuts in itertools.combinations(range(1, len(blocks)), count - 1):
        bounds = [0, *cuts, len(blocks)]
        yield [
            [column for block in blocks[low:high] for column in block]
            for low, high in itertools.pairwise(bounds)
        ]
