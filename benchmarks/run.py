"""`make bench`: every speed that is promised, measured, with the ratio to the original where there is one.

CPU time of one core, after import, without writing results. Machines differ, so each figure is given in
seconds of a machine on which `shared/measure/calibrate.py` prints 0.9: the calibration is run before and
after every try, in the same process; the least seconds over the least calibration count. Exits with 1 when a
figure is missed. `python benchmarks/run.py --only las` runs the cases whose name contains "las".
"""

from __future__ import annotations

import argparse
import csv
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from board import REFERENCE, SHARED, Board, best_of, calibration

ROOT = Path(__file__).resolve().parent.parent
GOLDENS = SHARED / "goldens" / "blox"
GAVEL = "gavel:multi=true,offered={offered},gpus=10000,jobs={jobs}"

# CPU seconds of complete runs of the original on a quiet machine, in units of the calibration
# (semantics of the original: FIFO at load 8 takes 68.5 s = 74 cal; the others were taken on a busy
# machine on which that run took 79.5 s, and are scaled by the same factor).
_BUSY = 74 / 79.5
ORIGINAL_CAL = {
    ("Fifo", "4"): 65.6 * _BUSY,
    ("Fifo", "8"): 74.0,
    ("Srtf", "8"): (83.1 + 7.7) * _BUSY,
    ("Las", "8"): 71.0,
}


@dataclass(frozen=True)
class Case:
    """A run to be measured: its limit in seconds at REFERENCE, or 0 for none."""

    name: str
    limit_s: float
    settings: dict[str, object]


def large(name: str, limit_s: float, scheduler: str, placement: str, offered: float, jobs: int) -> Case:
    workload = GAVEL.format(offered=offered, jobs=jobs)
    settings = {
        "workload": workload,
        "cluster": "1250x8",
        "scheduler": scheduler,
        "placement": placement,
        "performance": "duration",
    }
    return Case(name, limit_s, settings)


def compat(name: str, limit_s: float, policy: str) -> Case:
    settings = {
        "workload": f"blox:{GOLDENS / 'jobs_A_load8.csv'}",
        "cluster": "32x4",
        "window": "3000-4000",
        "compat": f"blox:policy={policy},load=8",
    }
    return Case(name, limit_s, settings)


CASES = (
    compat("blox load 8, fifo", 0.5, "Fifo"),
    compat("blox load 8, srtf", 1.5, "Srtf"),
    compat("blox load 8, las", 2.5, "Las"),
    large("10,000 GPUs, load 0.9, fifo first-free, 100,000 jobs", 3, "fifo", "first-free", 0.9, 100_000),
    large("10,000 GPUs, load 0.9, srtf first-free, 100,000 jobs", 3, "srtf", "first-free", 0.9, 100_000),
    large("10,000 GPUs, load 0.9, las first-free, 100,000 jobs", 3, "las", "first-free", 0.9, 100_000),
    large("10,000 GPUs, load 3, las count, 100,000 jobs", 5, "las", "count", 3, 100_000),
    large("10,000 GPUs, load 3, las consolidated, 100,000 jobs", 20, "las", "consolidated", 3, 100_000),
    large("10,000 GPUs, load 0.9, fifo first-free, 10,000 jobs", 0, "fifo", "first-free", 0.9, 10_000),
    large("10,000 GPUs, load 0.9, fifo first-free, 1,000,000 jobs", 30, "fifo", "first-free", 0.9, 1_000_000),
)
MOST_MEMORY_GB = 4.0
MOST_GROWTH = 2.0  # of the cost per job from 10,000 to 1,000,000 jobs


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--tries", type=int, default=3, help="tries per short case; the best counts")
    options = parser.parse_args()
    calibrate = calibration()
    board = Board()
    per_job: dict[int, float] = {}
    for case in CASES:
        if options.only not in case.name:
            continue
        seconds, raw, unit = _measure(case, calibrate, options.tries)
        jobs = str(case.settings["workload"]).rpartition("jobs=")[2]
        note = f"(here {raw:.2f} s, calibration {unit:.2f})"
        board.line(case.name, seconds, "s", case.limit_s, note=note)
        if case.settings.get("scheduler") == "fifo" and jobs.isdigit():
            per_job[int(jobs)] = seconds / int(jobs)
    if 1_000_000 in per_job:
        memory_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        board.line("memory of all runs so far", memory_gb, "GB", MOST_MEMORY_GB)
        growth = per_job[1_000_000] / per_job[10_000] if 10_000 in per_job else 0.0
        board.line("cost per job, 1,000,000 against 10,000 jobs", growth, "x", MOST_GROWTH)
    if options.only in "ratio to the original":
        _ratios(board, calibrate)
    if options.only in "start-up":
        board.line("import blox", _start_up("-c", "import blox"), "s", 0.3)
        board.line("blox --help", _start_up("-m", "blox", "--help"), "s", 0.5)
    if board.missed:
        print(f"\n{len(board.missed)} figures missed: {'; '.join(board.missed)}")
    return 1 if board.missed else 0


def _measure(case: Case, calibrate: Callable[[], float], tries: int) -> tuple[float, float, float]:
    """(seconds at REFERENCE, seconds here, calibration) of the best try."""
    from blox import Experiment

    prepared = Experiment(**case.settings).prepare()  # type: ignore[arg-type]
    return best_of(tries if case.limit_s <= 5 else 1, prepared.run, calibrate)


def _ratios(board: Board, calibrate: Callable[[], float]) -> None:
    """How many times less CPU than the original's complete runs."""
    from blox import Experiment

    summary = GOLDENS / "summary.csv"
    if not summary.is_file():
        print(f"no ratios to the original: {summary} is absent")
        return
    ratios = []
    with summary.open(newline="") as file:
        for row in csv.DictReader(file):
            original = ORIGINAL_CAL.get((row["policy"], row["load"]))
            complete = not row["max_rounds"] or (row["policy"] == "Las" and row["max_rounds"] == "2000")
            if original is None or row["source"] != "original" or not complete:
                continue
            case = Case(
                f"ratio to the original: {row['run']}",
                0,
                {
                    "workload": f"blox:{GOLDENS / row['jobs_csv']}",
                    "cluster": f"{row['nodes']}x{row['gpus_per_node']}",
                    "window": f"{row['track_start']}-{row['track_end']}",
                    "max_rounds": int(row["max_rounds"]) if row["max_rounds"] else None,
                    "compat": f"blox:policy={row['policy']},placement={row['placement']},load={row['load']}",
                },
            )
            Experiment(**case.settings)  # type: ignore[arg-type]
            seconds, _, _ = _measure(case, calibrate, 3)
            ratios.append(original / (seconds / REFERENCE))
            board.line(case.name, ratios[-1], "x", 150, at_least=True)
    if ratios:
        board.line("ratio to the original, median", statistics.median(ratios), "x", 300, at_least=True)


def _start_up(*arguments: str) -> float:
    """CPU-bound start-up as a user feels it: the best wall time of several runs."""
    walls = []
    for _ in range(7):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - start)
    return min(walls)


if __name__ == "__main__":
    sys.exit(main())
