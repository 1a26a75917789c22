"""Holdings: which job holds which GPUs now, with what grants, and which GPUs are free.

A cluster has one, for ever. Only the manager changes it: it applies a plan, or releases jobs that ended or
lost their node. Everything that is handed out is a value: an `Allocation` of an earlier round stays as it
was."""

from __future__ import annotations

import numpy as np

from blox.state.columns import SCALAR_MAX, read_only, scalar_view
from blox.state.free_gpus import FreeGpus
from blox.state.plan import GRANTS, NO_ROWS, NOTHING, Allocation, Plan, PlanBuilder
from blox.state.row_order import RowOrder
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
        self._nodes = gpu_node, node_first, node_gpus
        self._owner: Array = np.full(len(gpu_node), -1, dtype=np.int64)
        self._owner_view = scalar_view(self._owner)
        self.owner: Array = read_only(self._owner)  # the row that holds each GPU; -1: none
        self._order = RowOrder(NO_ROWS)
        self._gpus_of: dict[int, list[int]] = {}  # of jobs that started few at a time; others are looked up
        self._grants: dict[str, dict[int, float]] = {}  # columns in use: row -> value
        self._allocation: Allocation | None = None  # what holds now as a value, while it is known
        self.free = FreeGpus(self._owner, gpu_node, node_first, node_gpus)
        self.size = self.used = 0
        self.revision = 0  # counts the changes
        self.blocked = self.settled = False

    def copy(self) -> Holdings:
        """An independent copy."""
        twin = Holdings(*self._nodes)
        twin._owner[:] = self._owner
        twin._order = self._order.copy()
        twin._gpus_of = self._gpus_of.copy()
        twin._grants = {name: values.copy() for name, values in self._grants.items()}
        twin._allocation = self._allocation
        twin.free = self.free.copy(twin._owner)
        twin.size, twin.used = self.size, self.used
        twin.blocked, twin.settled = self.blocked, self.settled
        return twin

    def __deepcopy__(self, seen: object) -> Holdings:
        return self.copy()

    # -- reading -------------------------------------------------------------------------------------

    @property
    def jobs(self) -> Array:
        """The rows that hold GPUs, in the order in which they got them. Do not change it."""
        return self._order.rows

    @property
    def row_bound(self) -> int:
        """Every row that holds GPUs is below."""
        return self._order.bound

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
            self._allocation = self._as_value()
        return self._allocation

    def gpus_of(self, row: int) -> Array:
        """The GPU ids that a row holds, ascending."""
        if self.shared:
            return self.allocation.gpus_of(row)
        known = self._gpus_of.get(row)
        if known is not None:
            return np.array(known, dtype=np.int64)
        held: Array = (self._owner == row).nonzero()[0]
        return held

    def held_by(self, rows: Array) -> Array:
        """The GPU ids that these rows hold, ascending."""
        few = self._few(rows)
        if few is not None:
            return np.array(few, dtype=np.int64)
        if len(rows) == 1:
            return self.gpus_of(rows.item())
        marked = np.zeros(self._order.bound + 1, dtype=bool)  # the last entry is for GPUs without an owner
        marked[rows] = True
        return marked.take(self._owner).nonzero()[0]

    def _few(self, rows: Array) -> list[int] | None:
        """The same as a list, where these are few rows that are known one by one."""
        known = self._gpus_of
        if len(rows) == 1:
            return known.get(rows.item())
        if len(rows) > SCALAR_MAX:
            return None
        try:
            return sorted([gpu for row in rows.tolist() for gpu in known[row]])
        except KeyError:
            return None

    def change(self) -> PlanBuilder:
        """A plan in the making, from what holds now."""
        return PlanBuilder(self)

    # -- changing: the manager only -------------------------------------------------------------------

    def apply(self, plan: Plan) -> None:
        """Carries a plan out."""
        self.revision += 1
        self.blocked, self.settled = plan.blocked, plan.settled
        if plan.wanted is not None:
            self.replace(plan.wanted)
            return
        if plan.empty:
            return
        launch, move, leaving = plan.launch, plan.move, plan.suspend
        if move is not NOTHING:
            leaving = np.concatenate((leaving, move.jobs))
        if len(leaving):
            self._take_off(leaving, plan.freed)
        if launch is not NOTHING:
            self._put_on(launch)
        if move is not NOTHING:
            self._put_on(move)
        if self._grants or not (launch.bare and move.bare and plan.adjust is NOTHING):
            self._grant(plan)
        self._allocation = None

    def release(self, rows: Array) -> None:
        """Jobs give up what they hold, outside of any plan."""
        self.revision += 1
        self.settled = False
        if self.shared:
            self.replace(self.allocation.without(rows))
            return
        few = self._few(rows)
        if few is None:
            self._take_off(rows, self.held_by(rows))
        else:
            self._take_off_few(rows.tolist(), few)
        for values in self._grants.values():
            for row in rows.tolist():
                del values[row]
        self._allocation = None

    def replace(self, allocation: Allocation) -> None:
        """Makes a whole allocation the present one."""
        self.revision += 1
        self._owner.fill(-1)
        self._owner[allocation.gpus] = np.repeat(allocation.jobs, allocation.counts)
        self._order = RowOrder(allocation.jobs)
        self._gpus_of = {}
        rows = allocation.jobs.tolist()
        self._grants = {name: dict(zip(rows, each.tolist())) for name, each in allocation.grants().items()}
        self._allocation = allocation
        self.size = len(rows)
        self.used = int((self._owner >= 0).sum())  # jobs that share a GPU count it once
        self.free.forget()

    def _take_off(self, rows: Array, gpus: Array) -> None:
        """These rows give back all that they hold, which are these GPUs."""
        if len(rows) <= SCALAR_MAX:
            self._take_off_few(rows.tolist(), gpus.tolist())
            return
        self.size -= len(rows)
        self.used -= len(gpus)
        self._owner[gpus] = -1
        self._order.leave(rows)
        if self._gpus_of:
            for row in rows.tolist():
                self._gpus_of.pop(row, None)
        self.free.changed(gpus, 1)

    def _take_off_few(self, rows: list[int], gpus: list[int]) -> None:
        """The same, one by one."""
        self.size -= len(rows)
        self.used -= len(gpus)
        owner = self._owner_view
        for gpu in gpus:
            owner[gpu] = -1
        for row in rows:
            self._order.leave_one(row)
            self._gpus_of.pop(row, None)
        self.free.changed(gpus, 1)

    def _put_on(self, part: Allocation) -> None:
        """These rows take GPUs. Raises NotFree if one does not exist, is not free, or is given twice."""
        gpus = part.gpus
        self.size += len(part.jobs)
        self.used += len(gpus)
        if self.free.closed is not None:
            self._check_open(part)
        if len(part.jobs) > SCALAR_MAX and self._all_free(gpus):
            self._owner[gpus] = np.repeat(part.jobs, part.counts)
            if np.count_nonzero(self._owner >= 0) == self.used:
                self._order.join(part.jobs)
                self.free.changed(gpus, -1)
                return
            self._owner[gpus] = -1  # one is given twice: the loop below finds it
        self._put_on_few(part)

    def _all_free(self, gpus: Array) -> bool:
        if gpus.item(gpus.argmin()) < 0 or gpus.item(gpus.argmax()) >= len(self._owner):
            return False
        owners = self._owner[gpus]
        return int(owners[owners.argmax()]) < 0

    def _put_on_few(self, part: Allocation) -> None:
        """The same, one by one."""
        ids = part.gpus.tolist()
        owner, size, end = self._owner_view, len(self._owner), 0
        for row, count in zip(part.jobs.tolist(), part.counts.tolist()):
            end += count
            self._gpus_of[row] = here = sorted(ids[end - count : end])
            self._order.join_one(row)
            for gpu in here:
                if not 0 <= gpu < size or owner[gpu] >= 0:
                    raise NotFree(row, gpu)
                owner[gpu] = row
        self.free.changed(ids, -1)

    def _check_open(self, part: Allocation) -> None:
        """Refuses GPUs of nodes that take no jobs."""
        assert self.free.closed is not None
        exists = (part.gpus >= 0) & (part.gpus < len(self._owner))
        closed: Array = exists & self.free.closed.take(part.gpus, mode="clip")
        if closed.any():
            place = int(np.argmax(closed))
            raise NotFree(int(np.repeat(part.jobs, part.counts)[place]), int(part.gpus[place]))

    def _grant(self, plan: Plan) -> None:
        """Suspended jobs lose their grants, launched ones get the default or what the plan says."""
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

    def _as_value(self) -> Allocation:
        jobs, owner = self.jobs, self._owner
        held = (owner >= 0).nonzero()[0]
        rank = np.empty(int(jobs.max(initial=-1)) + 1, dtype=np.int64)
        rank[jobs] = np.arange(len(jobs))
        place = rank[owner[held]]
        columns = {
            name: np.array([values[row] for row in jobs.tolist()]) for name, values in self._grants.items()
        }
        counts, gpus = np.bincount(place, minlength=len(jobs)), held[np.argsort(place, kind="stable")]
        return Allocation(jobs, *map(read_only, (counts, gpus)), **columns)
