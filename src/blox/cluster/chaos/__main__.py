"""python -m blox.cluster.chaos: runs seeded histories and two-phase exits, and prints the seeds that fail.

A single one again: `python -m blox.cluster.chaos --from SEED --histories 1`, or `--exits 1 --histories 0`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor

from blox.cluster.chaos.checks import Violation
from blox.cluster.chaos.exits import run_exit
from blox.cluster.chaos.history import run_history


def failure(seed: int) -> tuple[int, str]:
    """The seed, and what went wrong in its history; "" if nothing did."""
    return _outcome(run_history, seed)


def failed_exit(seed: int) -> tuple[int, str]:
    """The seed, and what went wrong in its two-phase exit."""
    return _outcome(run_exit, seed)


def _outcome(act: Callable[[int], object], seed: int) -> tuple[int, str]:
    try:
        act(seed)
    except Violation as violation:
        return seed, str(violation)
    except Exception as error:
        return seed, f"{type(error).__name__}: {error}"
    return seed, ""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m blox.cluster.chaos", description=__doc__)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--exits", type=int, default=0, help="two-phase exits, behind the histories")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="SEED")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    failed = 0
    for what, act, count in (
        ("histories", failure, options.histories),
        ("two-phase exits", failed_exit, options.exits),
    ):
        if count:
            failed += _run(what, act, range(options.first, options.first + count), options.processes)
    return 1 if failed else 0


def _run(what: str, act: Callable[[int], tuple[int, str]], seeds: range, processes: int) -> int:
    """Runs every seed, and returns how many failed."""
    began = time.monotonic()
    if processes > 1 and len(seeds) > 1:
        with ProcessPoolExecutor(processes) as pool:
            failed = sum(map(_tell, pool.map(act, seeds, chunksize=20)))
    else:
        failed = sum(map(_tell, map(act, seeds)))
    print(f"{len(seeds):,} {what}, {failed} failed, {time.monotonic() - began:.0f} s")
    return failed


def _tell(result: tuple[int, str]) -> int:
    seed, what = result
    if what:
        print(f"seed {seed}: {what}", flush=True)
    return bool(what)


if __name__ == "__main__":
    sys.exit(main())
