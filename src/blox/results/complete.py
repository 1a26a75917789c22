"""Whether a results directory holds whole files: cheap enough to ask of every run of a sweep."""

from __future__ import annotations

import csv
from pathlib import Path

from blox.errors import BloxError
from blox.results.files import FILES, read_figures, read_settings

_PARQUET = b"PAR1"  # how such a file begins and ends


def is_complete(directory: Path) -> bool:
    """Whether every file is there to its end: as many jobs as the summary says, tables that are closed."""
    if not all((directory / name).is_file() for name in FILES):
        return False
    try:
        read_settings(directory / "experiment.toml")
        summary = read_figures(directory / "summary.json")
        read_figures(directory / "timing.json", needed=())
        tables = all(_ends_as_parquet(directory / f"{name}.parquet") for name in ("rounds", "stints"))
        return tables and _rows(directory / "jobs.csv") == summary["submitted"]
    except (BloxError, OSError, ValueError, csv.Error):
        return False


def _rows(path: Path) -> int:
    """The jobs of a jobs.csv; -1 if its last line is cut off."""
    with path.open("rb") as file:
        file.seek(-min(1, path.stat().st_size), 2)
        if file.read() != b"\n":
            return -1
    with path.open(newline="", encoding="utf-8") as file:
        width = len(next(rows := csv.reader(file), ()))
        return sum(1 if len(row) == width else -(10**18) for row in rows)


def _ends_as_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-min(4, path.stat().st_size), 2)
        return file.read() == _PARQUET
