"""python -m blox.cluster.chaos: runs many seeded histories, and prints the seeds that fail.

A single one again: `python -m blox.cluster.chaos --from SEED --histories 1`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from blox.cluster.chaos.checks import Violation
from blox.cluster.chaos.history import run_history


def failure(seed: int) -> tuple[int, str]:
    """The seed, and what went wrong in its history; "" if nothing did."""
    try:
        run_history(seed)
    except Violation as violation:
        return seed, str(violation)
    except Exception as error:
        return seed, f"{type(error).__name__}: {error}"
    return seed, ""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m blox.cluster.chaos", description=__doc__)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="SEED")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    seeds = range(options.first, options.first + options.histories)
    began, failed = time.monotonic(), 0
    if options.processes > 1 and options.histories > 1:
        with ProcessPoolExecutor(options.processes) as pool:
            failed = sum(map(_tell, pool.map(failure, seeds, chunksize=20)))
    else:
        failed = sum(map(_tell, map(failure, seeds)))
    print(f"{options.histories:,} histories, {failed} failed, {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def _tell(result: tuple[int, str]) -> int:
    seed, what = result
    if what:
        print(f"seed {seed}: {what}", flush=True)
    return bool(what)


if __name__ == "__main__":
    sys.exit(main())
