"""python -m blox.cluster.chaos: runs seeded histories and two-phase exits, and prints the seeds that fail.

A single one again: `python -m blox.cluster.chaos --from SEED --histories 1`, or `--exits 1 --histories 0`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from blox.cluster.chaos.checks import Violation
from blox.cluster.chaos.exits import run_exit
from blox.cluster.chaos.history import run_history


@dataclass(frozen=True)
class Ended:
    """How the history of a seed ended: what went wrong, "" if nothing did; faults and requests by kind."""

    seed: int
    wrong: str = ""
    seen: Mapping[str, int] = field(default_factory=dict)


def history(seed: int) -> Ended:
    return _ended(seed, lambda: run_history(seed).world.seen)


def two_phase_exit(seed: int) -> Ended:
    return _ended(seed, lambda: run_exit(seed).world.seen)


def _ended(seed: int, act: Callable[[], Mapping[str, int]]) -> Ended:
    try:
        return Ended(seed, seen=act())
    except Violation as violation:
        return Ended(seed, str(violation))
    except Exception as error:
        return Ended(seed, f"{type(error).__name__}: {error}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m blox.cluster.chaos", description=__doc__)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--exits", type=int, default=0, help="two-phase exits, behind the histories")
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="SEED")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    failed = 0
    for what, act, count in (
        ("histories", history, options.histories),
        ("two-phase exits", two_phase_exit, options.exits),
    ):
        if count:
            failed += _run(what, act, range(options.first, options.first + count), options.processes)
    return 1 if failed else 0


def _run(what: str, act: Callable[[int], Ended], seeds: range, processes: int) -> int:
    """Runs every seed, and returns how many failed."""
    began = time.monotonic()
    if processes > 1 and len(seeds) > 1:
        with ProcessPoolExecutor(processes) as pool:
            failed, seen = _tell(pool.map(act, seeds, chunksize=20))
    else:
        failed, seen = _tell(map(act, seeds))
    print(f"{len(seeds):,} {what}, {failed} failed, {time.monotonic() - began:.0f} s")
    for kind, count in sorted(seen.items()):
        print(f"  {count:>10,}  {kind}")
    return failed


def _tell(ended: Iterable[Ended]) -> tuple[int, Counter[str]]:
    """Prints the seeds that failed; how many, and what happened in all others."""
    failed, seen = 0, Counter[str]()
    for each in ended:
        seen.update(each.seen)
        if each.wrong:
            failed += 1
            print(f"seed {each.seed}: {each.wrong}", flush=True)
    return failed, seen


if __name__ == "__main__":
    sys.exit(main())
