"""What a round of Themis costs: apps and GPUs as given, everybody wanting more than there is.

    .venv/bin/python benchmarks/themis.py [--apps 200] [--gpus 512]

The limit is 50 ms per round on average, for 200 apps on 512 GPUs. Exits with 1 when it is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from blox import Experiment
from blox.schedulers import themis

LIMIT_MS = 50.0


def trace(apps: int, elastic: bool, path: Path) -> str:
    """A trace of apps of one to three jobs each; elastic jobs take 1 to 16 GPUs."""
    rng = np.random.default_rng(0)
    lines = ["job_id,submit_s,gpus,duration_s,group,min_gpus,max_gpus"]
    for app in range(apps):
        for job in range(int(rng.integers(1, 4)) if not elastic else 1):
            gpus = int(rng.choice([1, 2, 4, 8, 16]))
            low, high = (1, 16) if elastic else (gpus, gpus)
            gpus = min(max(gpus, low), high)
            lines.append(f"{app}-{job},0,{gpus},{rng.uniform(2e4, 2e5):.0f},app-{app},{low},{high}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--apps", type=int, default=200)
    parser.add_argument("--gpus", type=int, default=512)
    chosen = parser.parse_args()
    spent: list[float] = []
    missed = False
    decide = themis.Themis.schedule

    def timed(self, job_state, cluster_state):
        begin = time.process_time()
        answer = decide(self, job_state, cluster_state)
        if len(job_state.active) > chosen.apps // 2:
            spent.append(time.process_time() - begin)
        return answer

    themis.Themis.schedule = timed
    print(f"{chosen.apps} apps on {chosen.gpus} GPUs, CPU per round, ms (limit {LIMIT_MS:g} on average)")
    with tempfile.TemporaryDirectory() as folder:
        for elastic in (False, True):
            path = trace(chosen.apps, elastic, Path(folder) / "jobs.csv")
            for f in (0.0, 0.5, 0.8):
                spent.clear()
                Experiment(
                    workload=path,
                    cluster=f"{chosen.gpus // 8}x8",
                    scheduler=f"themis:f={f},lease=300",
                    max_rounds=60,
                ).run(skip=False)
                kind = "elastic" if elastic else "rigid"
                mean, worst = 1e3 * float(np.mean(spent)), 1e3 * float(np.max(spent))
                print(f"{kind:8} f={f:<4} mean {mean:6.1f}  worst {worst:6.1f}  rounds {len(spent)}")
                missed |= mean > LIMIT_MS
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
