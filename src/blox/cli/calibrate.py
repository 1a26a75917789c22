"""What `blox compare --calibrate` shows and writes: simulated runs beside what really happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from blox.errors import BloxError

if TYPE_CHECKING:
    from pathlib import Path

    from blox.report.run import Run
    from blox.results.calibration import Closeness


def no_history(workload: str) -> BloxError:
    """The fault of a workload with nothing to calibrate by."""
    return BloxError(
        f"{workload} does not say what really happened",
        where="--calibrate",
        fix="give one log that has the starts of its jobs, such as slurm:sacct.txt, without ?scale= and "
        "--no-history",
    )


def show_calibration(runs: Sequence[Run]) -> None:
    """Prints a sentence and a table for each simulated run."""
    from blox.cli.safe_console import SafeConsole
    from blox.report.calibration import CAPTION, calibration_table, told

    console = SafeConsole()
    for name, rows in _calibrated(runs):
        console.print()
        console.print(told(name, rows), highlight=False, markup=False)
        console.print(calibration_table(rows))
        console.print(CAPTION, highlight=False, markup=False)


def write_calibration(out: Path, runs: Sequence[Run]) -> list[str]:
    """Writes calibration.csv; returns the sections of the report."""
    from blox.report.calibration import CAPTION, calibration_csv, calibration_html, told
    from blox.report.page_parts import section
    from blox.results.files import write_text

    found = list(_calibrated(runs))
    write_text(out / "calibration.csv", calibration_csv(found))
    return [
        section(
            f"calibration-{at}",
            f"{name} beside what really happened",
            f"{told(name, rows)} {CAPTION}",
            calibration_html(rows),
            long=True,
        )
        for at, (name, rows) in enumerate(found)
    ]


def _calibrated(runs: Sequence[Run]) -> Iterator[tuple[str, list[Closeness]]]:
    """Each simulated run with its closeness to what really happened."""
    from blox.report.labels import labels
    from blox.results.calibration import calibration

    happened = next((run for run in runs if run.experiment.get("compat") == "history"), None)
    for name, run in zip(labels(runs), runs):
        if happened is not None and run is not happened:
            yield name, calibration(run, happened)
