"""What each quirk of the public Tiresias simulator does to the average JCT: all as in the original, less one.

    python benchmarks/quirks_tiresias.py

Prints the tables in docs/fidelity.md, for the traces h1, h3 and h5 of the shared goldens on their clusters:
the average JCT in seconds, and by how much it changes when a quirk is taken out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from blox import Experiment

SHARED = Path(os.environ.get("BLOX_SHARED", Path(__file__).resolve().parents[2] / "shared"))
GOLDENS = SHARED / "goldens" / "tiresias"
DISTRIBUTION = f"distribution={SHARED / 'data' / 'tiresias' / 'yarn-gput1000.csv'}"
CASES = (("h1_100", "s1n8g4"), ("h3_200", "s2n4g8"), ("h5_500ties", "s4n4g8"))

# (what is taken out, the preset as the original, the same without the quirk)
QUIRKS = (
    ("late_demotion", "schedule=dlas-gpu", "late_demotion=false"),
    ("late_demotion", "schedule=dlas-gpu-gittins", "late_demotion=false"),
    ("running_first", "schedule=dlas-gpu", "running_first=false"),
    ("stale_completion", "schedule=dlas-gpu-05", "stale_completion=false"),
    ("stale_completion", "schedule=dlas-gpu-1", "stale_completion=false"),
    ("own_index", "schedule=dlas-gpu-gittins", "own_index=false"),
    ("misplaced", "schedule=shortest-expected,scheme=count", "misplaced=false"),
    ("misplaced", "schedule=gittins", "misplaced=false"),
    ("memfix", "schedule=shortest,scheme=yarn", "memfix=true"),
    ("memfix", "schedule=shortest-gpu,scheme=yarn", "memfix=true"),
)
# (what is compared, the preset, our own settings)
OWN = (
    ("lpjf / fifo:strict=true", "schedule=lpjf,scheme=count", {"scheduler": "fifo"}),
    ("sjf / sjf", "schedule=sjf,scheme=count", {"scheduler": "sjf"}),
    ("yarn / placement=yarn", "schedule=fifo,scheme=yarn", {"scheduler": "fifo", "placement": "yarn"}),
    (
        "dlas-gpu / tiresias",
        "schedule=dlas-gpu",
        {"scheduler": "tiresias:queues=3,threshold=3250+7200"},
    ),
    (
        "dlas-gpu-1 / tiresias, promote=1",
        "schedule=dlas-gpu-1",
        {"scheduler": "tiresias:queues=3,threshold=3250+7200,promote=1"},
    ),
    (
        "dlas-gpu-gittins / tiresias, index=gittins",
        "schedule=dlas-gpu-gittins",
        {"scheduler": f"tiresias:queues=3,threshold=3250+7200,index=gittins,{DISTRIBUTION}"},
    ),
    (
        "dlas-gpu / tiresias in rounds of 300 s",
        "schedule=dlas-gpu",
        {"scheduler": "tiresias:queues=3,threshold=3250+7200", "clock": "rounds"},
    ),
    ("multi-dlas-gpu / tiresias", "schedule=multi-dlas-gpu,scheme=count", {"scheduler": "tiresias"}),
)


def run(trace: str, cluster: str, **settings: Any) -> dict[str, Any]:
    return (
        Experiment(
            workload=f"tiresias:{GOLDENS / 'inputs' / trace}.csv",
            cluster=f"tiresias:{GOLDENS / 'clusters' / cluster}.csv",
            **settings,
        )
        .run()
        .summary
    )


def preset(options: str) -> dict[str, str]:
    return {"compat": f"tiresias:{options},{DISTRIBUTION}"}


def cell(original: dict[str, Any], changed: dict[str, Any]) -> str:
    """The original's average JCT, what becomes of it, and jobs lost."""
    lost = original["jobs"] - original["finished"]
    if lost:
        return f"{lost} of {original['jobs']} jobs lost / {changed['avg_jct_s']:.0f} s"
    change = changed["avg_jct_s"] / original["avg_jct_s"] - 1
    return (
        f"{original['avg_jct_s']:.0f} s, {100 * change:+.1f} %"
        if change
        else f"{original['avg_jct_s']:.0f} s, ="
    )


def main() -> None:
    if not (GOLDENS / "summary.csv").is_file():
        print(f"nothing to measure: {GOLDENS / 'summary.csv'} is absent")
        return
    print("| | | " + " | ".join(trace for trace, _ in CASES) + " |\n|---|---|---:|---:|---:|")
    for name, options, change in QUIRKS:
        cells = [
            cell(run(*case, **preset(options)), run(*case, **preset(f"{options},{change}"))) for case in CASES
        ]
        print(f"| `{name}` | `{options}` | {' | '.join(cells)} |", flush=True)
    for name, options, settings in OWN:
        ours = {"placement": "count", "clock": "events", **settings}
        cells = [cell(run(*case, **preset(options)), run(*case, **ours)) for case in CASES]
        print(f"| {name} | `{options}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
