"""Solve times of Gavel's policies, each beside the original's and the bar that is set for it.

CPU time of one core per allocation, in seconds of a machine on which `shared/measure/calibrate.py` prints
0.9; the best of a few tries counts. Instances as in the original's own measurement: n single-GPU jobs of
types drawn uniformly from the table, unit weights, n/4 GPUs of each of three types. "Distinct": every
throughput is off by up to 10 %, so that no two jobs are of one kind, as when throughputs are learnt. At the
end a whole simulation: 1,000 measured jobs at 5.6 an hour on 36:36:36 GPUs, scheduler `gavel`. Exits
with 1 when a bar is missed. `python benchmarks/gavel.py --only packed` runs the cases whose name contains
"packed"; `--largest 512` leaves larger ones out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from board import REFERENCE, Board, calibration

from blox import Experiment
from blox.performance.throughputs import throughputs
from blox.schedulers.gavel.policies.by_name import policy
from blox.schedulers.gavel.problem import Pairs, Problem

# CPU seconds of one allocation of the original (CVXPY and ECOS), process warm, by policy and jobs. Where two
# measurements exist, that on the quieter machine. None at 1024 packed: it was not attempted.
ORIGINAL_S = {
    "max_min_fairness_perf": {32: 0.014, 128: 0.016, 256: 0.017, 512: 0.031, 1024: 0.04, 2048: 0.08},
    "max_min_fairness_packed": {32: 0.047, 64: 0.157, 128: 0.87, 256: 5.1, 512: 60.7},
    "finish_time_fairness_perf": {32: 0.2046, 128: 0.598, 512: 2.2},
    "min_total_duration_perf": {32: 0.1445, 128: 0.0587, 512: 0.119},
    "max_min_fairness_water_filling_perf": {32: 0.0471, 64: 0.0659, 128: 0.1424},
}
FASTER = {  # at least so many times
    ("max_min_fairness_perf", 512): 10.0,
    ("max_min_fairness_packed", 256): 100.0,
    ("max_min_fairness_packed", 512): 1000.0,
    ("finish_time_fairness_perf", 512): 5.0,
}
DISTINCT = 0.5  # where no two jobs are of one kind: at most twice the original's time
RUN_NAME, RUN_LIMIT_S = "1,000 measured jobs, 5.6 an hour, max_min_fairness_perf", 15.0
RUN = Experiment(
    workload="gavel:load=5.6,job_types=true",
    cluster="v100=9x4,p100=9x4,k80=9x4",
    scheduler="gavel:policy=max_min_fairness_perf",
    performance="throughputs",
    window="4000-4999",
    round_s=360.0,
    seed=1,
)
SIZES = {
    "max_min_fairness_perf": (32, 128, 256, 512, 1024, 2048),
    "max_min_fairness_packed": (32, 64, 128, 256, 512, 1024),
}


@dataclass(frozen=True)
class Case:
    """One policy on n jobs, alike within their types or each unlike every other."""

    policy: str
    jobs: int
    distinct: bool = False

    @property
    def name(self) -> str:
        return f"{self.policy}, {self.jobs} jobs{', distinct' if self.distinct else ''}"

    def problem(self, seed: int = 0) -> Problem:
        draws = np.random.default_rng(seed)
        table = throughputs()
        kinds = [kind for kind in table.alone if kind[1] == 1]
        kind = draws.integers(len(kinds), size=self.jobs)
        alone, beside = table.of(kinds)[kind], table.shared(kinds)
        if self.distinct:
            alone = alone * draws.uniform(0.9, 1.1, alone.shape)
        if self.distinct and "packed" in self.policy:
            noise = draws.uniform(0.9, 1.1, (self.jobs, self.jobs, 3))
            kind, beside = np.arange(self.jobs), beside[np.ix_(kind, kind)] * noise
        duration_s = 60 * 10 ** draws.uniform(1.5, 4, self.jobs)
        return Problem(
            table.gpu_types,
            np.full(3, max(self.jobs // 4, 1)),
            alone,
            remaining_steps=duration_s * alone[:, 2],
            elapsed_s=draws.uniform(0, 1e5, self.jobs),
            pairs=Pairs(kind, beside) if "packed" in self.policy else None,
        )


def cases() -> list[Case]:
    found = [Case(name, jobs) for name in ORIGINAL_S for jobs in SIZES.get(name, tuple(ORIGINAL_S[name]))]
    return found + [Case(name, jobs, True) for name, sizes in SIZES.items() for jobs in sizes]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--largest", type=int, default=10**9, help="leave out cases of more jobs")
    options = parser.parse_args()
    calibrate, board = calibration(), Board()
    for case in cases():
        if options.only not in case.name or case.jobs > options.largest:
            continue
        seconds = _measure(case, calibrate)
        original = ORIGINAL_S[case.policy].get(case.jobs)
        if original is None:
            board.line(case.name, seconds * 1e3, "ms", 0, note="(the original was not run)")
            continue
        least = DISTINCT if case.distinct else FASTER.get((case.policy, case.jobs), 0.0)
        note = f"({seconds * 1e3:.2f} ms; the original {original * 1e3:.0f} ms)"
        board.line(case.name, original / seconds, "x", least, at_least=True, note=note)
    if options.only in RUN_NAME:
        unit = calibrate()
        result = RUN.run()
        seconds = result.timing["cpu_s"] / ((unit + calibrate()) / 2) * REFERENCE
        note = f"(average JCT {result.summary['avg_jct_s'] / 3600:.1f} h)"
        board.line(RUN_NAME, seconds, "s", RUN_LIMIT_S, note=note)
    if board.missed:
        print(f"\n{len(board.missed)} figures missed: {'; '.join(board.missed)}")
    return 1 if board.missed else 0


def _measure(case: Case, calibrate: Callable[[], float]) -> float:
    """Seconds at REFERENCE of the best try."""
    chosen, problem = policy(case.policy), case.problem()
    best = float("inf")
    if case.jobs <= 64:
        chosen.allocate(problem)  # the first solve of a process loads libraries
    unit = calibrate()
    for attempt in range(20):
        start = time.process_time()
        chosen.allocate(problem)
        seconds = time.process_time() - start
        best = min(best, seconds)
        if seconds * (attempt + 1) > 1.0:
            break
    return best / ((unit + calibrate()) / 2) * REFERENCE


if __name__ == "__main__":
    sys.exit(main())
