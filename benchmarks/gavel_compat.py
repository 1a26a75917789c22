"""Speed of the preset gavel: whole simulations against what the original takes for them.

CPU time of one core, after import, reading and checking the trace apart, without writing results, in seconds
of a machine on which `shared/measure/calibrate.py` prints 0.9; the best of a few tries counts. Each is to be
at least 20 times as fast as the original. Exits with 1 when that is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from board import SHARED, Board, best_of, calibration

from blox import Experiment

TRACE = SHARED / "goldens" / "gavel" / "sim" / "traces" / "loaded_single_n300_lam55_s7.trace"
TABLE = SHARED / "data" / "gavel" / "simulation_throughputs.json"
# CPU seconds of the original: 36 GPUs of each type, 300 jobs; 2.0 and 0.55 of them are spent in the policy.
ORIGINAL_S = {"max_min_fairness_packed": 50.6, "gandiva": 60.8}
LEAST = 20.0
TRIES = 3


def main() -> int:
    for path in (TRACE, TABLE):
        if not path.is_file():
            print(f"nothing to measure: {path} is absent")
            return 0
    calibrate, board = calibration(), Board()
    for policy, original_s in ORIGINAL_S.items():
        seconds = _measure(policy, calibrate)
        note = f"({seconds:.2f} s; the original {original_s} s)"
        board.line(f"simulation, {policy}", original_s / seconds, "x", LEAST, at_least=True, note=note)
    if board.missed:
        print(f"\n{len(board.missed)} figures missed: {'; '.join(board.missed)}")
    return 1 if board.missed else 0


def _measure(policy: str, calibrate: Callable[[], float]) -> float:
    """Seconds at REFERENCE of the best try."""
    prepared = Experiment(
        workload=f"gavel:{TRACE}?throughputs={TABLE}",
        cluster="v100=36x1,p100=36x1,k80=36x1",
        compat=f"gavel:policy={policy},throughputs={TABLE}",
    ).prepare()
    return best_of(TRIES, prepared.run, calibrate)[0]


if __name__ == "__main__":
    sys.exit(main())
