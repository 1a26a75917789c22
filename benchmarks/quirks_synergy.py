"""What each quirk of the public Synergy simulator does to the average JCT: all as in the original, less one.

    python benchmarks/quirks_synergy.py

Prints the tables in docs/fidelity.md, for three job lists of the shared goldens: the average JCT in hours and
by how much it changes when a quirk is taken out; then what our own policies make of the same jobs.
"""

from __future__ import annotations

import os
from pathlib import Path

from blox import Experiment

SHARED = Path(os.environ.get("BLOX_SHARED", Path(__file__).resolve().parents[2] / "shared"))
INPUTS = SHARED / "goldens" / "synergy" / "inputs"
CASES = (
    ("C1multi_16x8_l14_s207010", "16x8:cpu=24,memory_gb=500"),
    ("C2multi_32x4_l10_s333333", "32x4:cpu=12,memory_gb=250"),
    ("C4phillymix_16x8_l16_s50_0_50", "16x8:cpu=24,memory_gb=500"),
)
# (what is taken out, the preset as the original, the same without the quirk)
QUIRKS = (
    ("stale_speed", "schedule=SRTF,allocation=tune", "stale_speed=false"),
    ("stale_speed", "schedule=FTF,allocation=tune", "stale_speed=false"),
    ("least_delayed", "schedule=FTF,allocation=tune", "least_delayed=false"),
    ("largest_first", "schedule=LAS,allocation=tune", "largest_first=false"),
    ("consolidate", "schedule=SRTF,allocation=tune", "consolidate=true"),
)
OWN = tuple(
    (f"{order} / {scheduler}, {mode}", f"schedule={order},allocation={theirs}", scheduler, mode)
    for order, scheduler in (("FIFO", "fifo:strict=false,preempt=true"), ("SRTF", "srtf"), ("LAS", "las"))
    for theirs, mode in (("fair", "proportional"), ("greedy", "greedy"), ("tune", "tune"))
)


def average_h(**settings: str) -> float:
    return float(Experiment(**settings).run().summary["avg_jct_s"]) / 3600


def main() -> None:
    jobs = [
        {"workload": f"synergy:{INPUTS / f'jobs_{name}.csv'}", "cluster": cluster} for name, cluster in CASES
    ]
    for name, preset, without in QUIRKS:
        cells = []
        for case in jobs:
            whole = average_h(compat=f"synergy:{preset}", **case)
            less = average_h(compat=f"synergy:{preset},{without}", **case)
            cells.append(
                f"{whole:.2f} h, " + ("=" if less == whole else f"{100 * (less / whole - 1):+.1f} %")
            )
        print(f"| `{name}`, {preset} | " + " | ".join(cells) + " |")
    for name, preset, scheduler, mode in OWN:
        cells = []
        for case in jobs:
            whole = average_h(compat=f"synergy:{preset}", **case)
            ours = average_h(
                scheduler=scheduler, placement=f"synergy:mode={mode}", performance="sensitivity", **case
            )
            cells.append(f"{whole:.2f} h, {100 * (ours / whole - 1):+.1f} %")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
