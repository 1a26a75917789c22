"""The scheduler of a cluster under load: 1,000 nodes, 10,000 queued jobs. CPU seconds beside their limits.

The state machine and the journal, without the wire: what a step decides and stores.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from blox.cluster.central.records import Policies
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.protocol.messages import JobSpec, PartReport, Report, Submit
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell.journal import Journal

NODES, JOBS, CHANGES = 1_000, 10_000, 500
TIMING = Timing(round_s=10.0)


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as directory:
        journal = Journal(Path(directory) / "journal.sqlite")
        scheduler = CentralScheduler({}, TIMING, 0.0, Policies(scheduler="las"))
        numbers = dict.fromkeys(range(NODES), 0)

        def report(node: int, now: float, *parts: PartReport) -> None:
            numbers[node] += 1
            message = Report(f"n{node}", 1, numbers[node], 1 << 60, 4, parts, identity=f"n{node}")
            journal.commit(scheduler.receive(message, message.node, now).saves)

        for node in range(NODES):
            report(node, 0.0)
        submitted = _cpu(lambda: _submit(scheduler, journal, JOBS))
        missed += _tell(f"a submission, stored (of {JOBS:,})", submitted / JOBS, 1 / 300)
        _cpu(lambda: journal.commit(scheduler.tick(10.0).saves))
        reports = _cpu(lambda: [report(node, 11.0) for node in range(NODES)])
        missed += _tell(f"a report of a node (of {NODES:,})", reports / NODES, 0.001)
        ended = list(scheduler.stints.all.values())[:CHANGES]
        for stint in ended:
            parts = [PartReport(*stint.key, False, "done", True)]
            for share in stint.shares:
                report(int(share.node[1:]), 12.0, *parts)
        changed = _cpu(lambda: journal.commit(scheduler.tick(20.0).saves))
        missed += _tell(f"a round with {2 * CHANGES} changes", changed, 1.0)
        again = _cpu(lambda: CentralScheduler(journal.records(), TIMING, 21.0))
        missed += _tell("a restart", again, 5.0)
        journal.close()
    return 1 if missed else 0


def _submit(scheduler: CentralScheduler, journal: Journal, count: int) -> None:
    for number in range(count):
        out = scheduler.receive(Submit(f"r{number}", JobSpec(("train",), 1 + number % 4)), "user", 1.0)
        journal.commit(out.saves)


def _cpu(act: object) -> float:
    began = time.process_time()
    act()  # type: ignore[operator]
    return time.process_time() - began


def _tell(what: str, seconds: float, limit: float) -> int:
    print(f"{what:45} {seconds * 1000:10.2f} ms CPU   limit {limit * 1000:8.2f} ms")
    return int(seconds > limit)


if __name__ == "__main__":
    sys.exit(main())
