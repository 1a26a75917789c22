"""What a round of Themis costs: 200 apps on 512 GPUs, all of which want more than there is.

    python benchmarks/themis.py [--apps 200] [--gpus 512]

CPU time of a whole round, placement and all, averaged over a run in which hardly an app ends, in units of a
machine on which `shared/measure/calibrate.py` prints 0.9; beside it the decision alone. Every lease ends
every round, so that each round is an auction of the whole cluster. Exits with 1 when the limit is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from board import REFERENCE, Board, calibration

from blox import Experiment
from blox.schedulers.themis import policy as themis

LIMIT_MS = 50.0
ROUNDS = 60


def trace(apps: int, elastic: bool, path: Path) -> str:
    """A trace of apps: of one to three rigid jobs each, or of one job that takes 1 to 16 GPUs."""
    rng = np.random.default_rng(0)
    lines = ["job_id,submit_s,gpus,duration_s,group,min_gpus,max_gpus"]
    for app in range(apps):
        for job in range(1 if elastic else int(rng.integers(1, 4))):
            gpus = int(rng.choice([1, 2, 4, 8, 16]))
            low, high = (1, 16) if elastic else (gpus, gpus)
            lines.append(f"{app}-{job},0,{gpus},{rng.uniform(2e4, 2e5):.0f},app-{app},{low},{high}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--apps", type=int, default=200)
    parser.add_argument("--gpus", type=int, default=512)
    chosen = parser.parse_args()
    spent: list[float] = []
    decide = themis.Themis.schedule

    def timed(self, job_state, cluster_state):
        begin = time.process_time()
        answer = decide(self, job_state, cluster_state)
        spent.append(time.process_time() - begin)
        return answer

    themis.Themis.schedule = timed
    calibrate, board = calibration(), Board()
    with tempfile.TemporaryDirectory() as folder:
        for elastic in (False, True):
            path = trace(chosen.apps, elastic, Path(folder) / "jobs.csv")
            for f in (0.0, 0.5, 0.8):
                spent.clear()
                before = calibrate()
                result = Experiment(
                    workload=path,
                    cluster=f"{chosen.gpus // 8}x8",
                    scheduler=f"themis:f={f},lease=300",
                    performance="duration",
                    max_rounds=ROUNDS,
                ).run(skip=False)
                unit = (before + calibrate()) / 2
                mean = 1e3 * result.timing["cpu_s"] / ROUNDS / unit * REFERENCE
                own, worst = (1e3 * value / unit * REFERENCE for value in (np.mean(spent), np.max(spent)))
                kind = "elastic jobs" if elastic else "rigid jobs"
                name = f"{chosen.apps} apps of {kind} on {chosen.gpus} GPUs, f={f:g}"
                note = f"(decision {own:.1f} ms, at worst {worst:.1f} ms)"
                board.line(name, mean, "ms", LIMIT_MS, note=note)
    return 1 if board.missed else 0


if __name__ == "__main__":
    sys.exit(main())
