"""Holdings: which job holds which GPUs now, with what grants, and which GPUs are free.

A cluster has one, for ever. Only the manager changes it: it applies a plan, or releases jobs that ended or
lost their node. Everything that is handed out is a value: an `Allocation` of an earlier round stays as it
was."""

from __future__ import annotations

import copy

import numpy as np

from blox.state.columns import read_only
from blox.state.free_gpus import FreeGpus
from blox.state.plan import GRANTS, NO_ROWS, NOTHING, Allocation, Plan, PlanBuilder
from blox.workloads.table import Array


class NotFree(Exception):
    """A plan gives `row` a GPU that a job holds, or that is not there to be given."""

    def __init__(self, row: int, gpu: int) -> None:
        super().__init__(row, gpu)
        self.row, self.gpu = row, gpu


class Holdings:
    """`size` jobs hold `used` GPUs. `blocked`: a strict order ended the last walk before its end.

    `settled`: the last placement vouched that, asked again at once, it would change nothing; a release ends
    that. Of two jobs that share GPUs, `owner` names one.
    """

    def __init__(self, gpu_node: Array, node_first: Array, node_gpus: Array) -> None:
        self._owner: Array = np.full(len(gpu_node), -1, dtype=np.int64)
        self.owner: Array = read_only(self._owner)  # the row that holds each GPU; -1: none
        self._grants: dict[str, dict[int, float]] = {}  # columns in use: row -> value
        self._alone: dict[int, Array] = {}  # GPU ids of jobs that started one at a time: need not be looked for
        self._jobs: Array | None = None  # the rows that hold GPUs, while they are known
        self._allocation: Allocation | None = None  # what holds now as a value, while it is known
        self.free = FreeGpus(gpu_node, node_first, node_gpus)
        self.size = self.used = 0
        self.row_bound = 0  # every row that ever held GPUs is below
        self.revision = 0  # counts the changes
        self.blocked = self.settled = False

    def copy(self) -> Holdings:
        """An independent copy."""
        twin = copy.copy(self)
        twin._owner = self._owner.copy()
        twin.owner = read_only(twin._owner)
        twin._alone, twin.free = self._alone.copy(), self.free.copy()
        twin._grants = {name: values.copy() for name, values in self._grants.items()}
        return twin

    def __deepcopy__(self, seen: object) -> Holdings:
        return self.copy()

    # -- reading -------------------------------------------------------------------------------------

    @property
    def jobs(self) -> Array:
        """The rows that hold GPUs, ascending. Do not change it."""
        if self._jobs is None:
            holds = self._marked(self.owner)
            if self.shared:
                holds[list(self._grants["share_group"])] = True
            self._jobs = read_only(holds[:-1].nonzero()[0])
        return self._jobs

    @property
    def bare(self) -> bool:
        """Whether every job holds whole GPUs and nothing else."""
        return not self._grants

    @property
    def shared(self) -> bool:
        """Whether jobs may share GPUs."""
        return "share_group" in self._grants

    @property
    def allocation(self) -> Allocation:
        """What holds now, as a value."""
        if self._allocation is None:
            jobs, held = self.jobs, (self._owner >= 0).nonzero()[0]
            place = jobs.searchsorted(self._owner[held])
            counts, gpus = np.bincount(place, minlength=len(jobs)), held[place.argsort(kind="stable")]
            grants = {
                name: np.array([of[row] for row in jobs.tolist()]) for name, of in self._grants.items()
            }
            self._allocation = Allocation(jobs, read_only(counts), read_only(gpus), **grants)
        return self._allocation

    def gpus_of(self, row: int) -> Array:
        """The GPU ids that a row holds, ascending."""
        if self.shared:
            return self.allocation.gpus_of(row)
        held = self._alone.get(row)
        return (self._owner == row).nonzero()[0] if held is None else held

    def held_by(self, rows: Array) -> Array:
        """The GPU ids that these rows hold, ascending."""
        if len(rows) == 1:
            return self.gpus_of(rows.item())
        return self._marked(rows).take(self._owner).nonzero()[0]

    def _marked(self, rows: Array) -> Array:
        """By row: whether it is one of these. The last entry is for GPUs without an owner, row -1."""
        marked = np.zeros(self.row_bound + 1, dtype=bool)
        marked[rows] = True
        return marked

    def change(self) -> PlanBuilder:
        """A plan in the making, from what holds now."""
        return PlanBuilder(self)

    # -- changing: the manager only -------------------------------------------------------------------

    def apply(self, plan: Plan) -> None:
        """Carries a plan out. Raises NotFree if it gives out a GPU that cannot be given."""
        self.blocked, self.settled = plan.blocked, plan.settled
        if plan.wanted is not None or self.shared:
            self.replace(plan.outcome(self.allocation))
            return
        launch, move, leaving = plan.launch, plan.move, plan.suspend
        if move is not NOTHING:
            leaving = np.concatenate((leaving, move.jobs))
        if len(leaving):
            self._take_off(leaving, plan.freed)
        if len(launch.jobs):
            self._put_on(launch)
        if len(move.jobs):
            self._put_on(move)
        if self._grants or not (launch.bare and move.bare and plan.adjust is NOTHING):
            self._grant(plan)

    def release(self, rows: Array) -> None:
        """Jobs give up what they hold, outside of any plan."""
        self.settled = False
        if self.shared:
            self.replace(self.allocation.without(rows))
            return
        self._take_off(rows, self.held_by(rows))
        for values in self._grants.values():
            for row in rows.tolist():
                del values[row]

    def replace(self, allocation: Allocation) -> None:
        """Makes a whole allocation the present one."""
        jobs, counts, gpus = allocation.jobs, allocation.counts, allocation.gpus
        self._changed()
        self._alone = {}
        self._owner.fill(-1)
        self._owner[gpus] = np.repeat(jobs, counts)
        self.row_bound = max(self.row_bound, int(jobs.max(initial=-1)) + 1)
        self._grants = {
            name: dict(zip(jobs.tolist(), each.tolist())) for name, each in allocation.grants().items()
        }
        self._allocation = allocation
        self.size = len(jobs)
        self.used = int((self._owner >= 0).sum())  # jobs that share a GPU count it once
        self.free.reset(self._owner < 0)

    def _changed(self) -> None:
        self.revision += 1
        self._jobs = self._allocation = None

    def _take_off(self, rows: Array, gpus: Array) -> None:
        """These rows give back all that they hold, which are these GPUs."""
        self._changed()
        self.size -= len(rows)
        self.used -= len(gpus)
        self._owner[gpus] = -1
        if self._alone:
            for row in rows.tolist():
                self._alone.pop(row, None)
        self.free.give(gpus)

    def _put_on(self, part: Allocation) -> None:
        """These rows take GPUs."""
        rows, gpus = part.jobs, part.gpus
        if not self.free.take(gpus):
            raise self._not_free(part)
        self._changed()
        self.size += len(rows)
        self.used += len(gpus)
        if len(rows) == 1:
            self._alone[rows.item()] = held = gpus.copy()
            held.sort()
        self._owner[gpus] = rows if len(rows) in (1, len(gpus)) else np.repeat(rows, part.counts)
        if (last := rows.item(rows.argmax())) >= self.row_bound:
            self.row_bound = last + 1

    def _not_free(self, part: Allocation) -> NotFree:
        """The first GPU of these that cannot be given."""
        self.free.reset(self._owner < 0)
        free = self.free.mask.tolist()
        for row, gpu in zip(np.repeat(part.jobs, part.counts).tolist(), part.gpus.tolist()):
            if not 0 <= gpu < len(free) or not free[gpu]:
                return NotFree(row, gpu)
            free[gpu] = False
        raise AssertionError("every GPU of the part can be given")

    def _grant(self, plan: Plan) -> None:
        """Suspended jobs lose their grants, launched ones get the default or what the plan says."""
        self._changed()
        parts = (plan.launch, plan.move, plan.adjust)
        for name in {name for part in parts for name in part.grants()} - self._grants.keys():
            self._grants[name] = dict.fromkeys(self.jobs.tolist(), GRANTS[name])
        for name, values in self._grants.items():
            for row in plan.suspend.tolist():
                values.pop(row, None)
            for part in parts:
                column = part.grants().get(name)
                rows = part.jobs.tolist()
                if column is not None:
                    values.update(zip(rows, column.tolist()))
                elif part is not plan.adjust:
                    values.update(dict.fromkeys(rows, GRANTS[name]))
