"""Jobs: every job that was acknowledged, and its row in JobState."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from blox.cluster.central.history import Belief
from blox.cluster.central.records import Job
from blox.cluster.protocol.messages import JobSpec
from blox.state.jobs import JobState
from blox.workloads.table import JobTable

# The columns of JobState that change while a job lives; the others follow from its submission.
KEPT = (
    "admit_s",
    "first_start_s",
    "finish_s",
    "preemptions",
    "moves",
    "done0",
    "rate",
    "anchor",
    "held_gpus",
    "gpu_rate",
    "held_since",
    "held0",
    "run0",
)


class Jobs:
    """Jobs by number and by row: those that have not ended, and the latest of those that have."""

    def __init__(self, jobs: Iterable[Job] = ()) -> None:
        self.all: dict[int, Job] = {job.job: job for job in jobs}
        staged = sorted((job for job in self.all.values() if job.row >= 0), key=lambda job: job.row)
        self.by_row: list[Job] = staged
        self.pending: list[Job] = [job for job in self.all.values() if job.row < 0 and not job.end]
        self.condemned: dict[int, Job] = {
            n: job for n, job in self.all.items() if job.verdict and not job.end
        }
        self.changed: dict[int, Job] = {}
        self.forgotten: list[Job] = []  # since they were last saved
        self._next = max(self.all, default=0) + 1
        self.ended = sum(bool(job.end) for job in self.all.values())

    def submit(self, request: str, spec: JobSpec, believed: Belief, now: float) -> Job:
        """A new job."""
        job = Job(self._next, request, spec, now, believed.expected_s, believed.source)
        self._next += 1
        self.all[job.job] = job
        self.pending.append(job)
        self.touch(job)
        return job

    @property
    def unfinished(self) -> int:
        return len(self.all) - self.ended

    def enter(self, job_state: JobState) -> None:
        """Jobs that have no row yet join the wait queue; those that were cancelled before have ended.

        A job that came after the boundary of this round, while it was late, is for the next one.
        """
        new = [job for job in self.pending if not job.end and job.submit_s <= job_state.now]
        self.pending = [job for job in self.pending if not job.end and job.submit_s > job_state.now]
        for job in new:
            job.row = len(self.by_row)
            self.by_row.append(job)
            self.touch(job)
        if new:
            job_state.stage(table_of(new), expected_of(new))
            job_state.submit(len(new))

    def condemn(self, job: Job, verdict: str) -> None:
        """The job is ended in the next round."""
        job.verdict = verdict
        self.condemned[job.job] = job
        self.touch(job)

    def end(self, job: Job, why: str, now: float) -> None:
        """A job has ended, for good."""
        job.end, job.end_s = why, now
        self.ended += 1
        self.condemned.pop(job.job, None)
        self.touch(job)

    def forget(self, gone: Iterable[Job]) -> np.ndarray:
        """Drops jobs that have ended; those that stay are numbered from row 0. Returns the rows that stay."""
        for job in gone:
            del self.all[job.job]
            self.forgotten.append(job)
            self.ended -= 1
        kept = [job.row for job in self.by_row if job.job in self.all]
        self.by_row = [self.by_row[row] for row in kept]
        for row, job in enumerate(self.by_row):
            job.row = row
            self.touch(job)
        return np.array(kept, dtype=np.int64)

    def touch(self, job: Job) -> None:
        """The record of the job is saved at the end of the step."""
        self.changed[job.job] = job


def table_of(jobs: list[Job]) -> JobTable:
    """Jobs as policies see them: how long they take is not known."""
    specs = [job.spec for job in jobs]
    ids = np.array([job.job for job in jobs], dtype=object)
    columns = {
        "job_id": ids,
        "submit_s": np.array([job.submit_s for job in jobs]),
        "gpus": np.array([spec.gpus for spec in specs]),
        "duration_s": expected_of(jobs),
        "min_gpus": np.array([spec.min_gpus for spec in specs]),
        "max_gpus": np.array([spec.max_gpus for spec in specs]),
        "priority": np.array([spec.priority for spec in specs]),
        "loss_threshold": _known_or_nan([spec.loss_threshold for spec in specs]),
    }
    for name in ("user", "tenant"):
        columns[name] = np.array([getattr(spec, name) for spec in specs], dtype=object)
    return JobTable(columns, source="cluster")


def expected_of(jobs: list[Job]) -> np.ndarray:
    """What is believed of their run times (s); nan: nothing."""
    return _known_or_nan([job.expected_s for job in jobs])


def _known_or_nan(values: Sequence[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def keep_columns(job: Job, job_state: JobState) -> None:
    """Takes the row of a job over into its record."""
    job.columns = {name: getattr(job_state.columns, name).item(job.row) for name in KEPT}
    job.columns["status"] = float(job_state.columns.status[job.row])
