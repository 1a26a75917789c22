"""The comparison as a table for the terminal: a row per run, the best value of each column in bold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from blox.report import measures
from blox.report.labels import folded, labels
from blox.report.run import Run

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text


class Label:
    """A cell with the name of a run, which folds where a reader would: not within a word."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        yield Text("\n".join(folded(self._name, options.max_width)))

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        lines = folded(self._name, max(options.max_width, 1))
        return Measurement(max(map(len, folded(self._name, 1)), default=0), max(map(len, lines), default=0))


def comparison_table(results: Sequence[Run]) -> Table:
    """Average, median, p95 and p99 JCT, responsiveness, makespan, utilisation, interruptions, speed.

    Each column has one unit, named in its head. At 80 columns long labels fold; figures are never cut.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    table.add_column("scheduler", overflow="fold", min_width=len("scheduler"))
    columns = []
    for measure in measures.TERMINAL:
        unit, texts = measures.column(measure, results, short=True)
        table.add_column(Text(_head(measure, unit), justify="right"), justify="right", no_wrap=True)
        columns.append((texts, measures.best(measure, results)))
    for position, name in enumerate(labels(results)):
        cells = [
            Text(texts[position], style="bold green" if position in best else "") for texts, best in columns
        ]
        table.add_row(Label(name), *cells)
    return table


_SHORT = {
    "average": "avg",
    "responsiveness": "resp.",
    "utilisation": "util.",
    "interruptions": "in-\nter-\nrupt.",
    "makespan": "make-\nspan",
    "simulated": "sim.",
}


def _head(measure: measures.Measure, unit: str) -> str:
    name = "\n".join(_SHORT.get(word, word) for word in (measure.group, measure.name) if word)
    return f"{name}\n{unit}" if unit else name
