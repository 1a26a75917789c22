"""What `run`, `compare` and `report` do about --by, --table and --metric: check first, show and write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blox.results.result import Result


def listed(texts: Iterable[str] | None) -> list[str]:
    """The values of an option that was given several times, or once with commas."""
    pieces = (piece.strip() for text in texts or () for piece in text.split(","))
    return list(dict.fromkeys(piece for piece in pieces if piece))


def joined(specs: Sequence[str] | None) -> str | None:
    """Specs of metrics as the setting `metrics` keeps them; None where there are none."""
    return ",".join(spec.strip() for spec in specs) if specs else None


def check_files(tables: Sequence[Path] | None) -> None:
    """Refuses, before anything runs, tables that cannot be written."""
    from blox.cli.places import check_writable
    from blox.report.sheet_files import check_tables

    check_tables(tables or ())
    for path in tables or ():
        check_writable(path.absolute().parent)


def show_breakdowns(runs: Sequence[Result], by: Sequence[str]) -> None:
    """Prints the figures of runs by each of the columns."""
    from rich.console import Console

    from blox.report.sheet_table import sheet_table
    from blox.report.sheets import breakdown_sheet

    console = Console()
    for column in by:
        console.print()
        console.print(sheet_table(breakdown_sheet(runs, column)))


def write_tables(tables: Sequence[Path] | None, runs: Sequence[Result], by: Sequence[str]) -> None:
    """Writes the tables, and says where they are."""
    from rich.console import Console

    from blox.report.sheet_files import write_table

    console = Console()
    for path in tables or ():
        write_table(path, runs, by)
        console.print(f"table:   {path}", highlight=False, soft_wrap=True, markup=False)
