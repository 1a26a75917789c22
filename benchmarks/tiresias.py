"""Speed of Tiresias: the original's 5,000 jobs through the preset, and 100,000 such jobs on 10,000 GPUs.

    python benchmarks/tiresias.py [--only dlas]

CPU time of one core, after import, without writing results, in seconds of a machine on which
`shared/measure/calibrate.py` prints 0.9; the least of a few tries over the least calibration counts. The
original's seconds stand in `goldens/tiresias/summary.csv`. Exits with 1 when a figure is missed.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from board import SHARED, best_of, calibration

GOLDENS = SHARED / "goldens" / "tiresias"
SCHEDULES = ("fifo", "dlas-gpu", "shortest-gpu")
LEAST_RATIO = 20.0
JOBS, GPUS, OFFERED, MOST_S = 100_000, 10_000, 0.95, 10.0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument(
        "--tries",
        type=int,
        default=5,
        help="tries per long case, three times as many per short one; the best counts",
    )
    given = parser.parse_args()
    if not (GOLDENS / "summary.csv").is_file():
        print(f"nothing to measure: {GOLDENS / 'summary.csv'} is absent")
        return 0
    calibrate = calibration()
    missed = 0
    for name in SCHEDULES:
        if given.only in f"original {name}":
            missed += _original(name, calibrate, 3 * given.tries)  # half a second each
    if given.only in "100,000 jobs":
        missed += _large(calibrate, given.tries)
    return 1 if missed else 0


def _original(schedule: str, calibrate: Callable[[], float], tries: int) -> int:
    """The ratio to the original's CPU seconds, with equal results."""
    from blox import Experiment

    with (GOLDENS / "summary.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["trace"] == "s5000"]
    row = next(row for row in rows if row["schedule"] == schedule and row["placement"] == "count")
    prepared = Experiment(
        workload=f"tiresias:{GOLDENS / 'inputs' / row['trace']}.csv",
        cluster=f"tiresias:{GOLDENS / 'clusters' / row['cluster']}.csv",
        compat=f"tiresias:schedule={schedule},scheme=count",
    ).prepare()
    seconds, here, unit = best_of(tries, prepared.run, calibrate)
    jobs = prepared.run().jobs
    with (GOLDENS / row["file"]).open(newline="") as file:
        ends = {job["job_id"]: float(job["end_time"]) for job in csv.DictReader(file)}
    same = {str(name): end for name, end in zip(jobs["job_id"], jobs["finish_s"].tolist())} == ends
    ratio = float(row["cpu_s"]) / seconds
    met = same and ratio >= LEAST_RATIO
    print(
        f"{'s5000 on 512 GPUs, ' + schedule:44s} {seconds:7.2f} s   {ratio:6.1f} x the original "
        f"(at least {LEAST_RATIO:g}: {'ok' if met else 'MISSED'}; results {'equal' if same else 'DIFFER'}; "
        f"here {here:.2f} s, calibration {unit:.2f})",
        flush=True,
    )
    return 0 if met else 1


def _large(calibrate: Callable[[], float], tries: int) -> int:
    """Our own policy on jobs drawn from the same mix: under rounds of 300 s, and event by event."""
    from blox import Experiment

    missed = 0
    with tempfile.TemporaryDirectory(prefix="blox-bench-") as folder:
        path = Path(folder) / "jobs.csv"
        draw_jobs(path, JOBS)
        for clock in ("rounds", "events"):
            experiment = Experiment(
                workload=str(path),
                cluster=f"{GPUS // 8}x8",
                scheduler="tiresias:queues=2,threshold=3200",
                placement="count",
                performance="duration",
                clock=clock,
            )
            seconds, here, unit = best_of(tries, experiment.prepare().run, calibrate)
            print(
                f"{f'100,000 jobs on 10,000 GPUs, tiresias, {clock}':44s} {seconds:7.2f} s   "
                f"(at most {MOST_S:g}: {'ok' if seconds <= MOST_S else 'MISSED'}; here {here:.2f} s, "
                f"calibration {unit:.2f})",
                flush=True,
            )
            missed += seconds > MOST_S
    return missed


def draw_jobs(path: Path, count: int) -> None:
    """Jobs of the original's mix (GPUs and duration drawn together), Poisson submissions."""
    with (GOLDENS / "inputs" / "s5000.csv").open(newline="") as file:
        mix = np.array([(int(row["num_gpu"]), float(row["duration"])) for row in csv.DictReader(file)])
    rng = np.random.default_rng(0)
    jobs = mix[rng.integers(0, len(mix), count)]
    gap_s = float(mix.prod(axis=1).mean()) / (OFFERED * GPUS)
    submit = np.cumsum(rng.exponential(gap_s, count)).round(3)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("job_id", "submit_s", "gpus", "duration_s"))
        writer.writerows(
            (i, at, int(n), s) for i, (at, (n, s)) in enumerate(zip(submit.tolist(), jobs.tolist()))
        )


if __name__ == "__main__":
    sys.exit(main())
