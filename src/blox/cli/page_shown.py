"""A page of `blox reproduce` on the terminal: numbers, verdict, causes, and where the files are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from blox.reproduce import Answer
    from blox.reproduce import Table as Texts

_COLOURS = {"holds": "green", "holds in part": "yellow", "does not hold": "red"}


def show(console: Console, answer: Answer, folder: Path) -> None:
    """What came out, from the numbers to the files; differences and pictures are in the book."""
    finding, verdict = answer.finding, answer.finding.verdict
    _table(console, finding.table)
    for note in finding.notes:
        labelled(console, "note", note)
    labelled(console, "rule", answer.rule)
    labelled(console, "verdict", f"{verdict.reason}.", f"{verdict.word}: ", f"bold {_COLOURS[verdict.word]}")
    if answer.by_seed:
        labelled(
            console, "", f"seeds alone: {', '.join(f'{s} {word}' for s, word in answer.by_seed.items())}"
        )
    for cause in answer.causes:
        labelled(console, "why", cause.answer, f"{cause.question} ", "bold")
        if cause.table is not None:
            _table(console, cause.table)
    picture = "figure.png, figure.svg, " if (folder / "figure.png").exists() else ""
    if finding.charts and not picture:
        labelled(console, "note", "figure.png and figure.svg need matplotlib: pip install 'blox[plot]'")
    numbers = "numbers.csv, " if (folder / "numbers.csv").exists() else ""
    console.print(f"results  {folder}: {picture}{numbers}finding.json", soft_wrap=True, markup=False)
    console.print()


def labelled(console: Console, word: str, text: str, first: str = "", style: str = "") -> None:
    """A paragraph beside its word, what comes first in a style of its own."""
    from rich.table import Table
    from rich.text import Text

    beside = Table.grid(padding=(0, 1))
    beside.add_column(min_width=8)
    beside.add_column()
    beside.add_row(word, Text(first, style=style).append(text, style="not bold default"))
    console.print(beside)


def _table(console: Console, texts: Texts) -> None:
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    for position, head in enumerate(texts.heads):
        table.add_column(head, justify="right" if position else "left", vertical="bottom", overflow="fold")
    for row in texts.rows:
        table.add_row(*row)
    console.print()
    console.print(table)
    console.print()
