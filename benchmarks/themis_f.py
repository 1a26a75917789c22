"""What the fairness knob of Themis trades: finish-time fairness against JCT, for a range of f.

    python benchmarks/themis_f.py [--workload SPEC] [--cluster SPEC] [--seeds 6] [--payments true]

Prints the tables in docs/fidelity.md, averaged over seeds. By default rigid jobs of Gavel's mix of 1 to 8
GPUs, each an app of its own, at a load at which they wait now and then. GPUs are counted, so that placement
plays no part.
"""

from __future__ import annotations

import argparse
import statistics
from concurrent.futures import ProcessPoolExecutor

from blox import Experiment

KNOB = (0.0, 0.4, 0.6, 0.8, 0.9, 0.95)
COLUMNS = ("avg_jct_s", "max_rho", "avg_rho", "rho_jain")


def figures(experiment: Experiment) -> tuple[float, ...]:
    result = experiment.run()
    return (*(float(result.summary[name]) for name in COLUMNS), float(result.jobs["gpu_seconds"].sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workload", default="gavel:multi=true,offered=1.0,gpus=64,jobs=300")
    parser.add_argument("--cluster", default="8x8")
    parser.add_argument("--seeds", type=int, default=6, help="runs per row, from seed 1 on")
    parser.add_argument("--payments", default="true", choices=("true", "false"))
    given = parser.parse_args()
    print("| f | average JCT, h | largest rho | average rho | Jain's index | GPU hours |")
    print("|---:|---:|---:|---:|---:|---:|")
    with ProcessPoolExecutor(2) as pool:
        for f in KNOB:
            runs = [
                Experiment(
                    workload=given.workload,
                    cluster=given.cluster,
                    placement="count",
                    performance="duration",
                    scheduler=f"themis:f={f},payments={given.payments}",
                    seed=seed,
                )
                for seed in range(1, given.seeds + 1)
            ]
            jct, largest, rho, jain, used = map(statistics.mean, zip(*pool.map(figures, runs)))
            print(
                f"| {f:g} | {jct / 3600:.2f} | {largest:.2f} | {rho:.3f} | {jain:.2f} | {used / 3600:,.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
