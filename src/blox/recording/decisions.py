"""DecisionTrace: what every executed round decided, job by job, for a look inside of it.

It reads the schedule before its plan is carried out, and the states afterwards. Rounds that are passed over
decide nothing new and have no rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.recording.wait_causes import COUNTED, ToldCauses, counted_cause, told_cause
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array

ACTIONS = ("keep", "launch", "move", "adjust", "suspend", "wait", "hold")
_KEEP, _LAUNCH, _MOVE, _ADJUST, _SUSPEND, _WAIT, _HOLD = range(len(ACTIONS))
# The columns of decisions, before `key_1`, `key_2`, ...: docs/results.md says what each holds.
COLUMNS = (
    *("time_s", "job", "place", "gpus", "held_gpus", "action", "cause", "because"),
    *("free_gpus", "largest_free"),
)


@dataclass(frozen=True, eq=False)
class _Order:
    """A schedule in its order, and what is done about it."""

    jobs: Array
    keys: tuple[Array, ...]
    gpus: Array | None
    plan: Plan


class DecisionTrace:
    """Collects the rounds of a run, or the last of them alone."""

    def __init__(self, *, last_only: bool = False) -> None:
        self._last_only = last_only
        self._order: _Order | None = None  # of the round that is being carried out
        self._rounds: list[dict[str, Array]] = []
        self._told: list[tuple[str, str]] = [("", "")]  # (part, words) by the codes of the rounds

    def decided(self, schedule: Schedule, plan: Plan) -> None:
        """A round is decided, and not carried out yet."""
        order = schedule.order
        self._order = _Order(
            schedule.jobs.take(order),
            tuple(np.asarray(key).take(order).astype(np.float64) for key in schedule.keys),
            None if schedule.gpus is None else schedule.gpus.take(order),
            plan,
        )

    def carried_out(
        self,
        told: ToldCauses,
        reasons: tuple[Array, Array],
        cluster_state: ClusterState,
        job_state: JobState,
    ) -> None:
        """The plan is carried out; `reasons`: rows and the codes in `told` of why they wait."""
        order = self._order
        assert order is not None
        self._told = told.names
        left_out = np.setdiff1d(job_state.active, order.jobs)
        rows = np.concatenate((order.jobs, left_out, job_state.waiting))
        if not len(rows):
            return
        held = job_state.columns.held_gpus.take(rows)
        gpus = job_state.columns.gpus.take(rows)
        if order.gpus is not None:
            gpus[: len(order.jobs)] = order.gpus
        action = _actions(rows, held, order.plan, job_state)
        told_of = np.zeros(job_state.submitted, dtype=np.int64)
        told_of[reasons[0]] = reasons[1]
        found = {
            "time_s": np.full(len(rows), job_state.now),
            "job": rows,
            "place": np.where(np.arange(len(rows)) < len(order.jobs), np.arange(1, len(rows) + 1), 0),
            "gpus": gpus,
            "held_gpus": held,
            "action": action,
            "counted": _counted(gpus, action, order.plan, cluster_state),
            "told": told_of.take(rows),
            "free_gpus": np.full(len(rows), cluster_state.free_gpus),
            "largest_free": np.full(len(rows), cluster_state.largest_free),
        }
        for number, key in enumerate(order.keys, 1):
            found[f"key_{number}"] = np.concatenate((key, np.full(len(rows) - len(key), np.nan)))
        small = {name: column.astype(_DTYPES.get(name, np.float64)) for name, column in found.items()}
        if self._last_only:
            self._rounds.clear()
        self._rounds.append(small)
        self._order = None

    def table(self) -> dict[str, Array]:
        """Every decision as columns: those of COLUMNS, and the keys."""
        rounds = self._rounds
        most = max((sum(name.startswith("key_") for name in each) for each in rounds), default=0)
        keys = [f"key_{number}" for number in range(1, most + 1)]

        def joined(name: str) -> Array:
            pieces = [each.get(name, np.full(len(each["job"]), np.nan)) for each in rounds]
            return np.concatenate(pieces or [np.empty(0)])

        action, counted, told = (joined(name).astype(np.int64) for name in ("action", "counted", "told"))
        reason = np.empty((2, len(COUNTED) + 1, len(self._told)), dtype=object)  # (cause, words)
        reason[:, -1] = ""  # of jobs that run
        for row, found in enumerate(COUNTED):
            for column, (part, words) in enumerate(self._told):
                reason[:, row, column] = (told_cause(part, found), words) if words else found
        cause, because = reason[:, counted, told]
        texts = {"action": np.array(ACTIONS, dtype=object)[action], "cause": cause, "because": because}
        return {name: texts[name] if name in texts else joined(name) for name in (*COLUMNS, *keys)}


_DTYPES = {
    **dict.fromkeys(("job", "place", "gpus", "held_gpus", "free_gpus", "largest_free"), np.int32),
    "action": np.int8,
    "counted": np.int8,
    "told": np.int32,
}


def _actions(rows: Array, held: Array, plan: Plan, job_state: JobState) -> Array:
    """What happens to each row: an index into ACTIONS."""
    done = np.full(job_state.submitted, -1)
    done[job_state.waiting] = _HOLD
    for which, action in (
        (plan.launch.jobs, _LAUNCH),
        (plan.move.jobs, _MOVE),
        (plan.adjust.jobs, _ADJUST),
        (plan.suspend, _SUSPEND),
    ):
        done[which] = action
    found = done.take(rows)
    return np.where(found >= 0, found, np.where(held > 0, _KEEP, _WAIT))


def _counted(gpus: Array, action: Array, plan: Plan, cluster_state: ClusterState) -> Array:
    """Why each row waits, as far as counting tells: an index into COUNTED; -1 for rows that run."""
    handed_out = len(np.unique(np.concatenate((plan.launch.gpus, plan.move.gpus))))
    found = counted_cause(gpus, cluster_state.free_gpus, handed_out, cluster_state.holdings.blocked)
    found[action == _HOLD] = 0  # admission
    return np.where(np.isin(action, (_SUSPEND, _WAIT, _HOLD)), found, -1)
