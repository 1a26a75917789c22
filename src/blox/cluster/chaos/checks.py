"""What must hold in every history. A check that fails raises Violation, at the very step that broke it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from blox.cluster.central.records import ENDED, Job, decode_job, ended_key, job_key
from blox.cluster.protocol.messages import PartReport
from blox.cluster.protocol.outputs import Note

if TYPE_CHECKING:
    from blox.cluster.chaos.gangs import Process

_JOBS = ("job/", ENDED)


class Violation(Exception):
    """A history in which something happened that must never happen."""


class Checks:
    """Told about every start and end of a process, every commit and every acknowledgement."""

    def __init__(self, checkpoint_every: int, attempts: int) -> None:
        self._checkpoint_every, self._attempts = checkpoint_every, attempts
        self.slots: dict[tuple[str, int], Process] = {}
        self.live: dict[int, dict[int, Process]] = {}  # job -> rank -> process
        self.ends: dict[int, str] = {}  # of jobs, as committed
        self.acknowledged: dict[str, int] = {}  # request -> job
        self.cancelled: set[int] = set()  # jobs that a user asked to cancel
        self.crashes: dict[int, set[int]] = {}  # job -> epochs in which one of its ranks failed
        self.complete: set[int] = set()  # jobs that did all their iterations
        self._started: set[tuple[int, int, int]] = set()
        self._newest: dict[int, int] = {}  # job -> epoch
        self._resumed: dict[tuple[int, int], int] = {}
        self._left: dict[tuple[int, int], int] = {}
        self._ranks: dict[tuple[int, int], dict[int, Process]] = {}  # (job, epoch) -> those that have started
        self._lost: set[tuple[int, int]] = set()  # (job, epoch): a node of it was given up for lost
        self._done: dict[int, int] = {}  # job -> the epoch that has done its work, as its node has stored
        self.exits: dict[tuple[int, int], int] = {}  # (job, epoch) -> the iteration that ranks leave after

    def started(self, process: Process, iteration: int, reached: int) -> None:
        job, epoch, rank = process.job, process.epoch, process.rank
        where = f"job {job} epoch {epoch} rank {rank} on {process.node} slot {process.slot}"
        self._require((process.node, process.slot) not in self.slots, f"{where}: the slot has a live process")
        others = self.live.setdefault(job, {})
        self._require(all(other.epoch == epoch for other in others.values()), f"{where}: another epoch lives")
        self._require((job, epoch, rank) not in self._started, f"{where}: it starts twice")
        self._require(epoch >= self._newest.get(job, 0), f"{where}: a newer epoch has started")
        end = self.ends.get(job, "cancelled")  # one that is cancelled may start, and is killed at once
        self._require(end == "cancelled", f"{where}: the job has ended: {end}")
        self._require(
            self._resumed.setdefault((job, epoch), iteration) == iteration,
            f"{where}: resumes at {iteration}, another rank at {self._resumed[job, epoch]}",
        )
        done = self._done.get(job, 0)
        self._require(not done or (job, done) in self._lost, f"{where}: epoch {done} has done the work")
        self._ranks.setdefault((job, epoch), {})[rank] = process
        lost = reached - iteration
        self._require(lost <= self._checkpoint_every, f"{where}: {lost} iterations are lost")
        self._started.add((job, epoch, rank))
        self._newest[job] = epoch
        self.slots[process.node, process.slot] = others[rank] = process

    def stopped(self, process: Process) -> None:
        del self.slots[process.node, process.slot]
        del self.live[process.job][process.rank]

    def exit_fixed(self, process: Process, iteration: int) -> None:
        """A rank knows when to leave: all ranks must at the same iteration."""
        fixed = self.exits.setdefault((process.job, process.epoch), iteration)
        self._require(
            fixed == iteration, f"job {process.job}: ranks are to leave after {fixed} and {iteration}"
        )

    def goes_on(self, process: Process) -> None:
        """A rank begins another iteration: it must not be one without the others."""
        fixed = self.exits.get((process.job, process.epoch))
        where = f"job {process.job} rank {process.rank}"
        self._require(
            fixed is None or process.iteration < fixed,
            f"{where} goes on after {process.iteration}, others leave after {fixed}",
        )

    def left(self, process: Process, iteration: int) -> None:
        """A rank leaves at an iteration boundary: all of them must at the same."""
        key = process.job, process.epoch
        agreed = self._left.setdefault(key, iteration)
        self._require(agreed == iteration, f"job {key[0]}: ranks leave after {agreed} and {iteration}")

    def committed(self, saves: Iterable[tuple[str, bytes | None]]) -> None:
        for key, value in saves:
            if not key.startswith(_JOBS) or value is None:
                continue
            job = decode_job(value)
            before = self.ends.get(job.job)
            self._require(before in (None, job.end), f"job {job.job} ended as {before!r} and as {job.end!r}")
            if job.end and before is None:
                self.ends[job.job] = job.end
                self._check_end(job)

    def stored(self, node: str, part: PartReport) -> None:
        """A node has stored how its part of an epoch ended."""
        ranks = self._ranks.get((part.job, part.epoch), {}).values()
        alone = all(rank.node == node and len(ranks) == rank.world for rank in ranks)
        if part.outcome == "done" and alone:
            self._done[part.job] = part.epoch

    def noted(self, notes: Iterable[Note]) -> None:
        """What the scheduler tells people: of nodes that it gives up."""
        for note in notes:
            if note.event == "node" and str(note.fields["what"]).startswith("lost"):
                node = note.fields["node"]
                for key, ranks in self._ranks.items():
                    if any(rank.node == node for rank in ranks.values()):
                        self._lost.add(key)

    def acknowledge(self, request: str, job: int, journal: dict[str, bytes]) -> None:
        known = self.acknowledged.setdefault(request, job)
        self._require(known == job, f"request {request} became jobs {known} and {job}")
        stored = job_key(job) in journal or ended_key(job) in journal
        self._require(stored, f"job {job} was acknowledged and is not in the journal")

    def at_end(self, journal: dict[str, bytes], submitted: int) -> None:
        """The faults have ceased long ago."""
        jobs = [decode_job(value) for key, value in journal.items() if key.startswith(_JOBS)]
        self._require(len(jobs) == submitted, f"{submitted} jobs were submitted, {len(jobs)} are known")
        for job in jobs:
            self._require(bool(job.end), f"job {job.job} has not ended")
        self._require(not self.slots, f"processes are left: {sorted(self.slots)}")

    def _check_end(self, job: Job) -> None:
        if job.end == "finished":
            self._require(job.job in self.complete, f"job {job.job} finished with work left")
        elif job.end == "cancelled":
            self._require(job.job in self.cancelled, f"job {job.job} was never cancelled")
        else:
            crashes = len(self.crashes.get(job.job, ()))
            self._require(crashes >= self._attempts, f"job {job.job} crashed {crashes} times: {job.end}")

    @staticmethod
    def _require(holds: bool, what: str) -> None:
        if not holds:
            raise Violation(what)
