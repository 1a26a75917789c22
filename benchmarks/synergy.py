"""Speed of Synergy: the run of the value that its artifact publishes, and the same jobs by our own policies.

    python benchmarks/synergy.py [--only preset] [--tries 3]

FIFO + tune, 9,000 jobs, 128 GPUs, window 4000-4999. CPU time of one core, after import and after reading the
jobs, without writing results, in seconds of a machine on which `shared/measure/calibrate.py` prints 0.9; the
best of a few tries counts. The preset's result must equal the published one. Exits with 1 when a figure is
missed.
"""

from __future__ import annotations

import argparse
import sys

from board import SHARED, Board, best_of, calibration

from blox import Experiment

JOBS = SHARED / "goldens" / "synergy" / "inputs" / "jobs_P9single_16x8_l9_s207010.csv.gz"
PUBLISHED_H = 21.8766005556  # average JCT
ORIGINAL_S = 157.0  # CPU seconds of the original
COMMON = {
    "workload": f"synergy:{JOBS}",
    "cluster": "16x8:cpu=24,memory_gb=500",
    "window": "4000-4999",
}
CASES = (
    ("FIFO + tune, the preset", 5.0, {"compat": "synergy:schedule=FIFO,allocation=tune"}),
    (
        "FIFO + tune, our placement",
        0.0,
        {"scheduler": "fifo:strict=false,preempt=true", "placement": "synergy:mode=tune"},
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--tries", type=int, default=3, help="tries of a case with a limit; the best counts")
    given = parser.parse_args()
    if not JOBS.is_file():
        print(f"nothing to measure: {JOBS} is absent")
        return 0
    calibrate, board = calibration(), Board()
    for name, limit_s, settings in CASES:
        if given.only not in name:
            continue
        prepared = Experiment(**COMMON, **settings).prepare()
        best = best_of(given.tries if limit_s else 1, prepared.run, calibrate)
        times = ORIGINAL_S / best[0]
        note = f"(here {best[1]:.2f} s, calibration {best[2]:.2f}; {times:.0f} times the original's speed)"
        board.line(name, best[0], "s", limit_s, note=note)
        if limit_s:
            found = float(prepared.run().summary["avg_jct_s"]) / 3600
            equal = abs(found - PUBLISHED_H) < 1e-9
            print(f"  average JCT {found:.10f} h, published {PUBLISHED_H} h: {'ok' if equal else 'MISSED'}")
            board.missed += [] if equal else ["the published value"]
    return 1 if board.missed else 0


if __name__ == "__main__":
    sys.exit(main())
