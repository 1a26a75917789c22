"""A scheduler, its journal, and nodes that a test moves by hand: rounds of 3 s."""

from __future__ import annotations

from blox.cluster.central.records import Job, under
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.protocol.messages import Assignment, JobSpec, PartReport, Report, Submit
from blox.cluster.protocol.queries import LifeEntry
from blox.cluster.protocol.timing import Timing

TIMING = Timing(round_s=3, heartbeat_s=1, lease_s=10, margin_s=1, grace_s=4, backoff_s=6, attempts=2)


class Cluster:
    """A scheduler, its journal, and nodes that a test moves by hand."""

    def __init__(self, policies=None):
        self.journal, self.policies, self.now = {}, policies, 0.0
        self.numbers, self.applied, self.latest = {}, {}, {}
        self.restart()

    def restart(self):
        self.scheduler = CentralScheduler(self.journal, TIMING, self.now, self.policies)
        self.take(self.scheduler.start())

    def take(self, out):
        """Saves, and returns the messages: by node the grants, or what was answered to the user."""
        for key, value in out.saves:
            self.journal.pop(key, None) if value is None else self.journal.update({key: value})
        self.assigned = {to: m for to, m in out.sends if isinstance(m, Assignment)}
        self.latest.update(self.assigned)
        self.applied.update({node: message.version for node, message in self.assigned.items()})
        return [message for to, message in out.sends if to == "user"]

    def ask(self, request):
        (answer,) = self.take(self.scheduler.receive(request, "user", self.now))
        return answer

    def submit(self, gpus=1, **fields):
        self.count = getattr(self, "count", 0) + 1
        return self.ask(Submit(f"r{self.count}", JobSpec(("train",), gpus, **fields))).job

    def report(self, node, *parts, incarnation=1, applied=None):
        self.numbers[node] = self.numbers.get(node, 0) + 1
        seen = self.applied.get(node, 0) if applied is None else applied
        report = Report(node, incarnation, self.numbers[node], seen, 2, parts, identity=node)
        self.take(self.scheduler.receive(report, node, self.now))

    def until(self, time_s):
        """Ticks until a time."""
        while self.scheduler.wake_s <= time_s:
            self.now = max(self.now, self.scheduler.wake_s)
            self.take(self.scheduler.tick(self.now))
        self.now = time_s

    def grants(self, node):
        """(job, epoch, slots, stop) of what a node should run."""
        self.report(node, *self.parts.get(node, ()))
        return [(g.job, g.epoch, g.slots, g.stop) for g in self.assigned[node].grants]

    parts: dict = {}

    def life(self, job):
        return [entry.what for entry in under(self.journal, f"life/{job:010d}/", LifeEntry)]

    def job(self, job):
        return {each.job: each for each in under(self.journal, "job/", Job)}[job]


def running(job, epoch=1, **fields):
    return PartReport(job, epoch, True, "", started=True, **fields)


def ended(job, outcome, epoch=1, **fields):
    return PartReport(job, epoch, False, outcome, started=True, **fields)
