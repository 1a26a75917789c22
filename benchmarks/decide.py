"""How long a decision takes: a log, the present scheduler and a shortlist of four, ten resamples of the log.

    python benchmarks/decide.py [JOBS [NODES]]

The limit is 10 minutes on 2 cores for 50,000 jobs: 1,200 s of CPU time. Without arguments a tenth of the jobs
is tried, on a quarter of the nodes, and has a tenth of the time.
"""

from __future__ import annotations

import os
import resource
import runpy
import sys
import tempfile
import time
from pathlib import Path

from blox.decision.conduct import conduct
from blox.decision.page import write_changes, write_page
from blox.decision.study import Study
from blox.decision.words import claim
from blox.experiment.parallel import run_tasks

LIMIT_S, JOBS, CORES = 600.0, 50_000, 2
EXAMPLE = Path(__file__).parents[1] / "examples" / "accounting_log.py"


def spent() -> float:
    """CPU seconds of this process and of those it has started."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main() -> int:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else JOBS // 10
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 16 if jobs < JOBS else 64
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        runpy.run_path(str(EXAMPLE))["write_log"](folder, jobs, nodes)
        study = Study(f"slurm:{folder / 'sacct.txt'}", f"slurm:{folder / 'sinfo.txt'}")
        began, cpu = time.perf_counter(), spent()
        found = conduct(study, lambda tasks, names: run_tasks(tasks, CORES), folder)
        write_page(folder / "decision.html", found)
        write_changes(folder / "changes.csv", found)
        took, used = time.perf_counter() - began, spent() - cpu
    limit = LIMIT_S * CORES * jobs / JOBS
    print(claim(found))
    print(f"{jobs:,} jobs, {nodes}x8, {len(study.schedulers)} schedulers, {study.resamples} resamples:")
    print(f"  {took:.0f} s with {CORES} processes at a load of {os.getloadavg()[0]:.0f}")
    print(f"  {used:.0f} s of CPU, limit {limit:.0f} s{'  MISSED' if used > limit else ''}")
    return int(used > limit)


if __name__ == "__main__":
    sys.exit(main())
