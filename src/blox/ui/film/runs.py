"""Which runs are filmed: those in results directories; of one over several seeds, the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from blox.errors import BloxError
from blox.results.replications import first_folder
from blox.results.result import Result


@dataclass(frozen=True)
class Filmed:
    """A run, the directory it is kept in, and what its viewer should know of how it was chosen."""

    result: Result
    folder: Path
    note: str = ""


def filmed(directories: Sequence[Path]) -> list[Filmed]:
    """The runs in these directories, in order. BloxError where one holds none, or none has a job."""
    found = [each for directory in directories for each in _inside(directory)]
    empty = [each.folder for each in found if not len(each.result.jobs["job_id"])]
    if empty:
        raise BloxError("the run has no jobs: there is nothing to show", where=str(empty[0]))
    return found


def _inside(directory: Path) -> list[Filmed]:
    if (directory / "compare.toml").is_file():
        inside = sorted(path.parent for path in directory.glob("*/experiment.toml"))
        return [each for folder in inside for each in _inside(folder)]
    folder, note = first_folder(directory)
    return [Filmed(Result.load(folder), folder, note)]
