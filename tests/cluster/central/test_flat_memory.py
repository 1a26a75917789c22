"""The scheduler's memory does not grow with the number of jobs that have ended."""

import gc
import tracemalloc

import pytest

from blox.cluster.central.records import Policies
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.protocol.messages import Assignment, JobSpec, PartReport, Report, Submit
from blox.cluster.protocol.timing import Timing

WAVE = 2_000
NODES, GPUS = [f"node-{number}" for number in range(20)], 100
NOT_KEPT = {}.get  # what was stored long ago is not looked up here


class Finishing:
    """A scheduler, and nodes on which every job ends as soon as it is granted."""

    def __init__(self):
        timing = Timing(round_s=2.0, heartbeat_s=5.0, lease_s=1e5)
        self.scheduler = CentralScheduler({}, timing, 0.0, Policies(), stored=NOT_KEPT)
        self.scheduler.start()
        self.now, self.number, self.jobs = 1.0, 0, 0
        self.latest = {node: Assignment(node, 1, 0, 0, ()) for node in NODES}
        self.report()

    def report(self):
        """All nodes tell the end of everything that was granted."""
        self.number += 1
        for node, last in list(self.latest.items()):
            parts = tuple(PartReport(each.job, each.epoch, False, "done", True) for each in last.grants)
            report = Report(node, 1, self.number, last.version, GPUS, parts, node)
            self.take(self.scheduler.receive(report, node, self.now))

    def take(self, out):
        self.latest.update((to, sent) for to, sent in out.sends if isinstance(sent, Assignment))

    def wave(self):
        """Jobs come, run and finish."""
        for _ in range(WAVE):
            self.jobs += 1
            self.scheduler.receive(Submit(f"r{self.jobs}", JobSpec(("train",), 1)), "user", self.now)
        for _ in range(3):
            self.now += 2.0
            self.take(self.scheduler.tick(self.now))
            self.report()

    def kilobytes(self):
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / 1e3


@pytest.mark.slow
def test_thirty_thousand_jobs_need_no_more_memory_than_twelve_thousand():
    """By then the 10,000 latest requests are known, and jobs have been forgotten several times."""
    tracemalloc.start(1)
    try:
        made = Finishing()
        for _ in range(6):
            made.wave()
        before = made.kilobytes()
        for _ in range(9):
            made.wave()
        assert made.kilobytes() == pytest.approx(before, rel=0.02)
    finally:
        tracemalloc.stop()
    assert made.scheduler.jobs.unfinished == 0
    assert len(made.scheduler.jobs.all) <= WAVE
