"""Schedule: what a scheduling policy returns: a line of jobs and what each should get.

A plain priority list (FIFO, LAS) leaves every optional column at its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from blox.state.line import Keys, Line
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.state.cluster import ClusterState
    from blox.state.fractions import TimeShares
    from blox.state.jobs import JobState


@dataclass(eq=False, init=False, slots=True)
class Schedule:
    """Jobs to run, sorted by `keys` (most important first); ties, or no keys: the order of `jobs`.

    Jobs that are not listed are suspended. `strict`: a job that does not fit ends the walk; otherwise it is
    passed over. `preempt`: running jobs later in the order may be displaced. The optional columns are
    aligned with `jobs`: GPUs granted (default: as many as the job asks for), GPU type, thousandths of each
    GPU, CPU cores, memory, configuration, the job that shares its GPUs (a row, -1: none). `pinned`: row ->
    GPU ids, for policies that place too. A `line`, given instead of `jobs` and `keys`, can compute its order
    when it is read."""

    line: Line
    strict: bool
    preempt: bool
    gpus: Array | None
    gpu_type: Array | None
    share_milli: Array | None
    cpu: Array | None
    memory_gb: Array | None
    config: Array | None
    share_group: Array | None
    pinned: Mapping[int, tuple[int, ...]] | None

    def __init__(
        self,
        jobs: Array | None = None,
        keys: Keys = (),
        strict: bool = False,
        preempt: bool = True,
        gpus: Array | None = None,
        gpu_type: Array | None = None,
        share_milli: Array | None = None,
        cpu: Array | None = None,
        memory_gb: Array | None = None,
        config: Array | None = None,
        share_group: Array | None = None,
        pinned: Mapping[int, tuple[int, ...]] | None = None,
        *,
        line: Line | None = None,
    ) -> None:
        if line is None or jobs is not None:
            if jobs is None:
                raise TypeError("a Schedule needs jobs (rows), or a line of them")
            if line is not None and line.keys and not keys:
                raise TypeError("other jobs need other keys: replace(schedule, jobs=..., keys=...)")
            line = Line(jobs, keys)
        elif keys:
            line = Line(line.jobs, keys)
        self.line = line
        self.strict, self.preempt = strict, preempt
        self.gpus, self.gpu_type, self.share_milli = gpus, gpu_type, share_milli
        self.cpu, self.memory_gb, self.config = cpu, memory_gb, config
        self.share_group, self.pinned = share_group, pinned

    @property
    def jobs(self) -> Array:
        """The listed rows."""
        return self.line.jobs

    @property
    def keys(self) -> Keys:
        """The sort keys, aligned with `jobs`."""
        return self.line.keys

    @property
    def order(self) -> Array:
        """Positions in `jobs`, in order of the line."""
        return self.line.order

    @classmethod
    def ordered(
        cls,
        job_state: JobState,
        by: Array | Keys = (),
        *,
        strict: bool = False,
        preempt: bool = True,
    ) -> Schedule:
        """Every active job, smallest key first; several keys as a tuple, the most important first."""
        keys = by if isinstance(by, tuple) else (by,)
        return cls(job_state.active, keys, strict, preempt)

    @classmethod
    def from_fractions(
        cls, job_state: JobState, cluster_state: ClusterState, shares: TimeShares, *, fill: bool = True
    ) -> Schedule:
        """This round's schedule for jobs that should get given fractions of the time on each GPU type.

        The mechanism is Gavel's (OSDI'20). `shares` is the memory of the policy: the wanted fractions, and
        the time received, which this method books. Jobs, or pairs of jobs that share their GPUs, run in order
        of their priority: wanted fraction over received fraction. `fill` conserves work: GPUs that would idle
        go to jobs that were not chosen, on the type where they are fastest. A job that stays on its GPU type
        keeps its GPUs: its lease is extended, which `shares.leases` counts. Call it once a round; jobs
        without a row in `shares` wait.
        """
        from blox.state.leases import coming_round

        jobs, pinned, partners = coming_round(shares, cluster_state, job_state, fill)
        return cls(jobs, pinned=pinned, share_group=partners)
