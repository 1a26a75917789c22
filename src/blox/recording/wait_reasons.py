"""Asks policies why jobs wait, whenever the recorder has noted a round, and records their answers.

Only parts that have `wait_reasons` (`optional.py`) are asked. A scheduling policy is asked about the jobs
that its schedule left out. If a scheduling policy has no `wait_reasons`, LEFT_OUT is recorded for the jobs it
left out while enough GPUs were free. A `DecisionTrace`, if given, gets what every executed round decided,
with the reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blox.protocols import AdmissionPolicy, PlacementPolicy, SchedulingPolicy, declared
from blox.recording.decisions import DecisionTrace
from blox.recording.recorder import Recorder
from blox.recording.wait_causes import LEFT_OUT
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array

Reasons = Callable[[Array, JobState, ClusterState], Any] | None


class WaitReasons:
    """The reasons of the three policies of a run, as codes of the recorder's `told`."""

    def __init__(
        self,
        recorder: Recorder,
        admission: AdmissionPolicy,
        scheduler: SchedulingPolicy,
        placement: PlacementPolicy,
        trace: DecisionTrace | None = None,
    ) -> None:
        """`trace` also gets what every round decides."""
        self._recorder, self._told, self._trace = recorder, recorder.told, trace
        self._admission: Reasons = declared(admission, "wait_reasons")
        self._scheduler: Reasons = declared(scheduler, "wait_reasons")
        self._placement: Reasons = declared(placement, "wait_reasons")
        self._always = not (self._admission is self._placement is trace is None)
        self._listed: Array | None = None  # the rows of this round's schedule; None: all active jobs

    def decided(
        self, schedule: Schedule, plan: Plan, cluster_state: ClusterState, job_state: JobState
    ) -> bool:
        """Takes the decision of a round that is not carried out yet. False: there is nothing to tell."""
        line, self._listed = schedule.line, None
        if not line.lists_all(job_state) and len(line.jobs) != job_state.active_count:
            self._listed = line.jobs
        if self._trace is not None:
            self._trace.decided(schedule, plan)
        return self._listed is not None or self._always or self._told.open or bool(cluster_state.windows)

    def carried_out(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Called after the plan; if the recorder has noted the round, records the reasons too."""
        if self._trace is not None:
            reasons = self.of_waiting(cluster_state, job_state)
            self._trace.carried_out(self._told, reasons, cluster_state, job_state)
        if self._recorder.noted_s == job_state.now:
            self._told.note(job_state.now, *self.of_waiting(cluster_state, job_state))

    def of_waiting(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array]:
        """Waiting rows, and for each the code of the reason that a policy gives (0: none)."""
        rows, codes = [NO_ROWS], [NO_ROWS]
        for part, reasons, about in (
            ("admission", self._admission, job_state.waiting),
            *self._of_admitted(cluster_state, job_state),
        ):
            if len(about) and reasons is not None:
                rows.append(about)
                codes.append(self._ask(part, reasons, about, cluster_state, job_state))
        return np.concatenate(rows), np.concatenate(codes)

    def _of_admitted(
        self, cluster_state: ClusterState, job_state: JobState
    ) -> list[tuple[str, Reasons, Array]]:
        """(part, its `wait_reasons`, the rows to ask it about), for admitted jobs that wait."""
        if job_state.active_count == cluster_state.holdings.size:
            return []
        columns, active = job_state.columns, job_state.active
        waiting = active[columns.held_gpus[active] == 0]
        in_line = np.zeros(job_state.submitted, dtype=bool)
        in_line[active if self._listed is None else self._listed] = True
        in_line = in_line[waiting]
        room = columns.gpus[waiting] <= cluster_state.free_gpus
        if cluster_state.holdings.blocked:
            room[:] = False
        if self._scheduler is not None:
            left_out = ("scheduling", self._scheduler, waiting[~in_line])
        else:
            left_out = ("scheduling", _left_out, waiting[~in_line & room])
        placement = self._placement or (_reserved if cluster_state.windows else None)
        return [left_out, ("placement", placement, waiting[in_line & room])]

    def _ask(
        self,
        part: str,
        reasons: Callable[[Array, JobState, ClusterState], Any],
        rows: Array,
        cluster_state: ClusterState,
        job_state: JobState,
    ) -> Array:
        answer = reasons(rows, job_state, cluster_state)
        if isinstance(answer, str):
            return np.full(len(rows), self._told.code(part, answer))
        texts = [str(words) for words in answer]
        codes = {words: self._told.code(part, words) for words in dict.fromkeys(texts)}
        return np.array([codes[words] for words in texts])


def _left_out(rows: Array, job_state: JobState, cluster_state: ClusterState) -> str:
    return LEFT_OUT


def _reserved(rows: Array, job_state: JobState, cluster_state: ClusterState) -> list[str]:
    """The first reservation that each job would overlap with, in words; empty: none."""
    found = [""] * len(rows)
    for window in reversed(cluster_state.windows):
        for at in window.bars(rows, job_state).nonzero()[0].tolist():
            found[at] = f"free nodes are reserved ({window.name}) before it would end"
    return found
