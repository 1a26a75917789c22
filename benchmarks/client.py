"""What blox.client costs a training script per iteration, in CPU time beside its limit (20 microseconds).

A loop over BloxDataLoader with a lease, less the same loop over the data itself; the least of several rounds,
alternating. The second line leaves metrics out: the check of the lease alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from board import Board

from blox.client import BloxDataLoader
from blox.client.page import LeasePage
from blox.cluster.protocol.rank import at_boundary

ITERATIONS, ROUNDS, LIMIT_US = 50_000, 7, 20.0


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        page = LeasePage.create(Path(directory) / "lease")
        os.environ |= {
            "BLOX_LEASE": f"{directory}/lease",
            "BLOX_RANK_DIRECTORY": directory,
            "RANK": "0",
            "WORLD_SIZE": "4",
        }
        data = range(ITERATIONS)
        bare, wrapped, checks = [], [], []
        for _ in range(ROUNDS):
            bare.append(_cpu_s(data))
            wrapped.append(_cpu_s(BloxDataLoader(data)))
            checks.append(_cpu_s(at_boundary(0, 4, number, page) for number in data))
    board = Board()
    board.line("BloxDataLoader, per iteration", 1e6 * (min(wrapped) - min(bare)), "us", LIMIT_US)
    board.line("the check of the lease alone", 1e6 * (min(checks) - min(bare)), "us", LIMIT_US)
    return 1 if board.missed else 0


def _cpu_s(items: Iterable[object]) -> float:
    began = time.process_time()
    for _ in items:
        pass
    return (time.process_time() - began) / ITERATIONS


if __name__ == "__main__":
    sys.exit(main())
