"""How much CPU time a million lines of `sacct -P` take, every one a job, and of them with steps.

python benchmarks/accounting_log.py [LINES]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from blox.workloads.readers.slurm import Slurm

LIMIT_S = 10.0  # of CPU time, for a million lines
HEAD = "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Timelimit|State|ReqTRES|AllocTRES"


def write_log(path: Path, lines: int, *, steps: bool) -> None:
    """A log of so many lines; with steps, one in three is a job."""
    rng = np.random.default_rng(1)
    jobs = lines // 3 if steps else lines
    submit = np.datetime64("2025-01-01T00:00:00") + np.sort(rng.integers(0, 300 * 86400, jobs))
    start = submit + rng.integers(0, 36000, jobs)
    end = start + rng.integers(1, 90000, jobs)
    gpus, user = 2 ** rng.integers(0, 4, jobs), rng.integers(0, 400, jobs)
    times = zip(submit.astype(str), start.astype(str), end.astype(str), gpus.tolist(), user.tolist())
    with path.open("w") as log:
        log.write(f"{HEAD}\n")
        for job, (come, began, ended, count, who) in enumerate(times):
            tres = f"billing={8 * count},cpu={8 * count},gres/gpu={count},mem={64 * count}G,node=1"
            log.write(
                f"{job}|u{who}|a{who % 20}|main|normal|{come}|{come}|{began}|{ended}|1-00:00:00|COMPLETED|"
                f"{tres}|{tres}\n"
            )
            for step in (".batch", ".0") if steps else ():
                log.write(f"{job}{step}|||||{began}|{began}|{began}|{ended}||COMPLETED||{tres}\n")


def main() -> int:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    missed = False
    for steps in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "sacct.txt"
            write_log(log, lines, steps=steps)
            megabytes = log.stat().st_size / 1e6
            began = time.process_time()
            jobs = len(Slurm(str(log)).read())
            spent = time.process_time() - began
        limit = LIMIT_S * lines / 1_000_000
        missed |= spent > limit
        what = f"{lines:,} lines ({megabytes:.0f} MB), {jobs:,} jobs"
        print(f"{what}: {spent:.1f} s of CPU, limit {limit:.1f} s{'  MISSED' if spent > limit else ''}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
