"""Holdings: which job holds which GPUs now, with what grants, and which GPUs are free.

Each ClusterState has one. A manager changes it: it applies a plan, or releases jobs that ended or lost their
node. So does a real cluster when it builds a ClusterState around running jobs (`cluster/central/nodes.py`).
Returned Allocations are immutable and stay valid after later changes."""

from __future__ import annotations

import copy

import numpy as np

from blox.state.columns import read_only
from blox.state.free_gpus import FreeGpus
from blox.state.plan import NO_ROWS, NOTHING, Allocation, Plan
from blox.workloads.table import Array


class NotFree(Exception):
    """A plan gives `row` a GPU that a job holds, that is on a node that is not up, or that does not exist."""

    def __init__(self, row: int, gpu: int) -> None:
        super().__init__(row, gpu)
        self.row, self.gpu = row, gpu


class Holdings:
    """`size` jobs hold `used` GPUs.

    `blocked`: a strict order ended the last walk before every job was placed. `settled`: the last placement
    guarantees that a second call at once would change nothing; a release clears it. Of two jobs that share
    GPUs, `owner` names one. `bare`: every job holds whole GPUs and nothing else. While true, `_owner` is
    updated in place; otherwise the current Allocation is stored and replaced as a whole.
    """

    def __init__(self, gpu_node: Array, node_gpus: Array) -> None:
        self._owner: Array = np.full(len(gpu_node), -1, dtype=np.int64)
        self.owner: Array = read_only(self._owner)  # the row that holds each GPU; -1: none
        self._jobs: tuple[int, Array] = (0, NO_ROWS)  # (revision, the rows that held GPUs then)
        self._allocation: tuple[int, Allocation] = (0, NOTHING)  # (revision, the allocation then)
        self.free = FreeGpus(gpu_node, node_gpus)
        self.size = self.used = 0
        self.revision = 0  # number of changes so far
        self.blocked = self.settled = False
        self.bare = True

    def copy(self) -> Holdings:
        """An independent copy."""
        twin = copy.copy(self)
        twin._owner = self._owner.copy()
        twin.owner = read_only(twin._owner)
        twin.free = self.free.copy()
        return twin

    def __deepcopy__(self, seen: object) -> Holdings:
        return self.copy()

    # -- reading -------------------------------------------------------------------------------------

    @property
    def jobs(self) -> Array:
        """The rows that hold GPUs, ascending. Do not change it."""
        if self._jobs[0] != self.revision:
            jobs = self._marked(self._owner)[:-1].nonzero()[0] if self.bare else np.sort(self.allocation.jobs)
            self._jobs = self.revision, read_only(jobs)
        return self._jobs[1]

    @property
    def row_bound(self) -> int:
        """Every row in `owner` is below this number."""
        last: int = self._owner.item(self._owner.argmax()) if len(self._owner) else -1
        return last + 1

    @property
    def shared(self) -> bool:
        """Whether jobs may share GPUs."""
        return not self.bare and self.allocation.share_group is not None

    @property
    def allocation(self) -> Allocation:
        """The current allocation. Immutable."""
        if self._allocation[0] != self.revision:
            jobs, held = self.jobs, (self._owner >= 0).nonzero()[0]
            place = jobs.searchsorted(self._owner[held])
            counts, gpus = np.bincount(place, minlength=len(jobs)), held[place.argsort(kind="stable")]
            self._allocation = self.revision, Allocation(jobs, read_only(counts), read_only(gpus))
        return self._allocation[1]

    def gpus_of(self, row: int) -> Array:
        """The GPU ids that a row holds, ascending."""
        return (self._owner == row).nonzero()[0] if self.bare else np.sort(self.allocation.gpus_of(row))

    def held_by(self, rows: Array) -> Array:
        """The GPU ids that these rows hold, ascending."""
        if len(rows) <= 1:
            return self.gpus_of(rows.item()) if len(rows) else NO_ROWS
        if self.bare:
            return self._marked(rows).take(self._owner).nonzero()[0]
        return np.unique(self.allocation.select(np.isin(self.allocation.jobs, rows)).gpus)

    def _marked(self, rows: Array) -> Array:
        """Mask by row: whether it is in `rows`. The last entry is for row -1, of GPUs without an owner."""
        bound = max(self.row_bound, rows.item(rows.argmax()) + 1 if len(rows) else 0)
        marked = np.zeros(bound + 1, dtype=bool)
        marked[rows] = True
        return marked

    # -- changing: not for policies -------------------------------------------------------------------

    def keep(self, plan: Plan) -> None:
        """Takes over the flags `blocked` and `settled` of a plan; every job keeps its GPUs."""
        self.blocked, self.settled = plan.blocked, plan.settled

    def apply(self, plan: Plan) -> None:
        """Applies a plan. Raises NotFree if it grants a GPU that is not free."""
        self.blocked, self.settled = plan.blocked, plan.settled  # as `keep`, without the call
        if plan.wanted is not None:
            self.replace(plan.wanted)
            return
        outcome = None if self.bare and plan.bare else plan.outcome(self.allocation)
        moving = plan.move.jobs
        leaving = np.concatenate((plan.suspend, moving)) if len(moving) else plan.suspend
        if len(leaving):
            self._withdraw(leaving, plan.freed)
        if len(plan.launch.jobs):
            self._grant(plan.launch)
        if len(moving):
            self._grant(plan.move)
        if outcome is not None:
            self.replace(outcome)

    def release(self, rows: Array) -> None:
        """Frees everything that jobs hold, outside of any plan."""
        self.settled = False
        if self.bare:
            self._withdraw(rows, self.held_by(rows))
        else:
            self.replace(self.allocation.without(rows))

    def replace(self, allocation: Allocation) -> None:
        """Replaces the current allocation as a whole."""
        self.revision += 1
        self._owner.fill(-1)
        self._owner[allocation.gpus] = np.repeat(allocation.jobs, allocation.counts)
        self._allocation, self.bare = (self.revision, allocation.sealed()), allocation.bare
        self.size = len(allocation.jobs)
        self.used = int((self._owner >= 0).sum())  # jobs that share a GPU count it once
        self.free.reset(self._owner < 0)

    def _withdraw(self, rows: Array, gpus: Array) -> None:
        """`rows` release `gpus`, which must be everything that they hold."""
        self.revision += 1
        self.size -= len(rows)
        self.used -= len(gpus)
        self._owner[gpus] = -1
        self.free.give(gpus)

    def _grant(self, part: Allocation) -> None:
        """Grants GPUs to rows. Raises NotFree if one is not free."""
        rows, gpus = part.jobs, part.gpus
        if not self.free.take(gpus):
            raise self._not_free(part)
        self.revision += 1
        self.size += len(rows)
        self.used += len(gpus)
        self._owner[gpus] = rows if len(rows) in (1, len(gpus)) else rows.repeat(part.counts)

    def _not_free(self, part: Allocation) -> NotFree:
        """The error for the first GPU of `part` that is not free."""
        self.free.reset(self._owner < 0)
        free = self.free.mask.tolist()
        for row, gpu in zip(np.repeat(part.jobs, part.counts).tolist(), part.gpus.tolist()):
            if not 0 <= gpu < len(free) or not free[gpu]:
                return NotFree(row, gpu)
            free[gpu] = False
        raise AssertionError("every GPU of the part can be given")
