"""GavelRun: what the parts of the preset know about the run in common. It is kept in the state of the jobs.

`StepSimulation` enters jobs and rounds; the policies read them, and count what they do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from blox.performance.throughputs import Kind, Throughputs
from blox.state.jobs import JobState
from blox.workloads.table import Array, JobTable


@dataclass(frozen=True, eq=False)
class Round:
    """A round: the jobs that ran (rows), their GPUs, their steps, their ends, and whether they count.

    Two jobs that share end together. Execution is counted from `since_s`, the end of the last round in which
    any job ran, even if none did for a while before `begin_s`.
    """

    rows: Array
    gpus: Array
    steps: Array
    end_s: Array
    counts: Array
    shared: Array
    since_s: float
    begin_s: float

    @property
    def last_s(self) -> float:
        """When the round ends."""
        return float(self.end_s.max())

    @property
    def busy_s(self) -> float:
        """GPU-seconds that count, those of two that share once."""
        each = self.gpus * (self.end_s - self.since_s) * np.where(self.shared, 0.5, 1.0)
        return float(each[self.counts].sum())


@dataclass
class Counts:
    """What is counted during a run."""

    passes: int = 0  # of the original's loop: rounds that ran, and looks that found nothing to run
    allocations: int = 0
    leases: int = 0  # that could have been extended
    extended: int = 0
    busy_s: float = 0.0  # GPU-seconds
    relaxed: set[int] = field(default_factory=set)  # jobs whose SLO could not be held


class GavelRun:
    """Throughputs (steps/s) of the kinds of job on `types`, the steps that jobs have left, the last round."""

    def __init__(self) -> None:
        self.types: tuple[str, ...] = ()
        self.alone: Array = np.zeros((0, 0))  # kinds x types
        self.beside: Array = np.zeros((0, 0, 0))  # kinds x kinds x types
        self.kind: Array = np.zeros(0, dtype=np.int64)  # by row, as the next three
        self.steps: Array = np.zeros(0)  # in all
        self.steps_left: Array = np.zeros(0)
        self.shared_s: Array = np.zeros(0)
        self.last: Round | None = None
        self.dropped: set[int] = set()  # jobs that were given up
        self.no_more_jobs = False  # whether all jobs have been submitted
        self.counts = Counts()
        self._kinds: dict[Kind, int] = {}

    def enter(self, jobs: JobTable) -> None:
        """Adds newly staged jobs: their kinds and steps."""
        names, gpus, known = jobs.column("model").tolist(), jobs.columns["gpus"].tolist(), len(self._kinds)
        kinds = [self._kinds.setdefault(kind, len(self._kinds)) for kind in zip(names, gpus)]
        self.kind = np.concatenate([self.kind, np.array(kinds, dtype=np.int64)])
        self.steps = np.concatenate([self.steps, jobs.column("iterations")])
        self.steps_left = np.concatenate([self.steps_left, jobs.column("iterations")])
        self.shared_s = np.concatenate([self.shared_s, np.zeros(len(jobs))])
        if len(self._kinds) > known:
            self.types = ()

    def look_up(self, table: Throughputs, types: tuple[str, ...]) -> None:
        """Takes the throughputs of all kinds so far on these types from the table."""
        if self.types != types:
            self.types, kinds = types, list(self._kinds)
            self.alone, self.beside = table.of(kinds, types), table.shared(kinds, types)


def gavel_run(job_state: JobState) -> GavelRun:
    """The run that these jobs belong to; a fork of the state has its own."""
    return job_state.memory("compat gavel", GavelRun)
