"""What the fairness knob of Themis trades: finish-time fairness against JCT, for a range of f.

    python benchmarks/themis_f.py [--offered 1.0] [--gpus 64] [--jobs 300] [--seeds 6] [--payments true]

Prints the table in docs/fidelity.md, averaged over seeds: rigid jobs of Gavel's mix of 1 to 8 GPUs, each an
app of its own, at a load at which jobs wait now and then. GPUs are counted, so that placement plays no part.
"""

from __future__ import annotations

import argparse
import statistics
from concurrent.futures import ProcessPoolExecutor

from blox import Experiment

KNOB = (0.0, 0.4, 0.6, 0.8, 0.9, 0.95)
COLUMNS = ("avg_jct_s", "p99_jct_s", "max_rho", "avg_rho", "rho_jain")


def figures(experiment: Experiment) -> tuple[float, ...]:
    summary = experiment.run().summary
    return tuple(float(summary[name]) for name in COLUMNS)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--offered", type=float, default=1.0, help="load, as a share of the GPUs")
    parser.add_argument("--gpus", type=int, default=64, help="of the cluster, 8 per node")
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=6, help="runs per row, from seed 1 on")
    parser.add_argument("--payments", default="true", choices=("true", "false"))
    given = parser.parse_args()
    print("| f | average JCT, h | p99 JCT, h | largest rho | average rho | Jain's index |")
    print("|---:|---:|---:|---:|---:|---:|")
    with ProcessPoolExecutor(2) as pool:
        for f in KNOB:
            runs = [
                Experiment(
                    workload=f"gavel:multi=true,offered={given.offered},gpus={given.gpus},jobs={given.jobs}",
                    cluster=f"{given.gpus // 8}x8",
                    placement="count",
                    scheduler=f"themis:f={f},payments={given.payments}",
                    seed=seed,
                )
                for seed in range(1, given.seeds + 1)
            ]
            jct, tail, largest, rho, jain = map(statistics.mean, zip(*pool.map(figures, runs)))
            print(
                f"| {f:g} | {jct / 3600:.2f} | {tail / 3600:.1f} | {largest:.3f} | {rho:.4f} | {jain:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
