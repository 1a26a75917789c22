"""when(): at which time a job would start if it were submitted in the middle of a run.

The run is simulated up to that time; from there on the loop runs ahead with the job among the others, once
for every draw of what is believed of the durations of the present jobs. No job comes after it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.experiment.pause import Paused, paused_at
from blox.experiment.prepared import Prepared
from blox.lookahead.ahead import look_ahead
from blox.lookahead.beliefs import belief_named, check_told, draws
from blox.performance.model_profiles import profiles_from
from blox.performance.spread import Spread
from blox.state.cluster import ClusterState
from blox.state.columns import FINISHED
from blox.state.jobs import JobState
from blox.state.node_events import NodeState
from blox.workloads.table import Array, JobTable

ASKED = "(the job asked about)"


@dataclass(frozen=True)
class Away:
    """A node that takes no job at the time asked about. `back_s`: when it is expected to; inf: not known."""

    node: str
    state: NodeState
    back_s: float


@dataclass(frozen=True)
class Prospect:
    """What would become of a job submitted at `at_s` (s): one start and one finish per draw.

    nan where it would not start, or not finish, in that draw. `finished`: the jobs that had finished by then.
    `away`: the nodes that are draining or down then; the answer counts with one from its `back_s` on.
    """

    at_s: float
    start_s: Array
    finish_s: Array
    running: int
    waiting: int
    finished: int
    free_gpus: int
    away: tuple[Away, ...] = ()

    def starts_in(self, *percent: float) -> list[float]:
        """Seconds from submission to start that so many per cent of the draws stay within; inf: never."""
        return _percentiles(self.start_s - self.at_s, percent)

    def finishes_in(self, *percent: float) -> list[float]:
        """The same from submission to finish."""
        return _percentiles(self.finish_s - self.at_s, percent)

    @property
    def never(self) -> int:
        """In how many draws it would not start."""
        return int(np.isnan(self.start_s).sum())


def when(
    prepared: Prepared,
    at_s: float,
    *,
    gpus: int,
    duration_s: float,
    belief: str = "learnt",
    samples: int = 20,
    columns: Mapping[str, Any] | None = None,
) -> Prospect:
    """When a job would start and finish. `columns`: others of its columns, such as its model or user.

    A belief that draws nothing is asked once.
    """
    believed = belief_named(belief)
    check_told(belief, prepared.experiment.belief)
    if gpus > prepared.cluster.total_gpus:
        raise BloxError(
            f"the job asks for {gpus} GPUs, and the cluster has {prepared.cluster.total_gpus}",
            where="gpus",
            fix=f"ask for {prepared.cluster.total_gpus} at most",
        )
    paused = paused_at(prepared, at_s)
    job_state = paused.job_state
    asked = {
        "job_id": [ASKED],
        "submit_s": [job_state.now],
        "gpus": [gpus],
        "duration_s": [duration_s],
        **{name: [value] for name, value in (columns or {}).items()},
    }
    job = JobTable.build(asked, source="the job asked about")
    _check_model(str((columns or {}).get("model", "")), prepared.composition.performance, job_state)
    looks = [_look(paused, job, believed, draw) for draw in range(samples if draws(belief) else 1)]
    start, finish = np.array(looks).T
    return Prospect(
        job_state.now,
        start,
        finish,
        paused.cluster_state.running_count,
        job_state.active_count + len(job_state.waiting) - paused.cluster_state.running_count,
        int((job_state.columns.status[: job_state.submitted] == FINISHED).sum()),
        paused.cluster_state.free_gpus,
        _away(paused.cluster_state, job_state),
    )


def _away(cluster_state: ClusterState, job_state: JobState) -> tuple[Away, ...]:
    """The nodes that take no job now, and when they are expected back."""
    back_s: dict[int, float] = {}
    for event in cluster_state.node_events_ahead(job_state):
        if event.state == "up":
            back_s.setdefault(event.node, event.time_s)
    return tuple(
        Away(cluster_state.node_name[node], cluster_state.node_state(node), back_s.get(node, math.inf))
        for node in np.flatnonzero(~cluster_state.node_up).tolist()
    )


def _check_model(name: str, performance: object, job_state: JobState) -> None:
    """Refuses a model that no job so far has and no profile knows: it would run as any other model."""
    seen = {str(each) for each in job_state.columns.model[: job_state.submitted].tolist()}
    own = (performance.models, performance.gpus) if isinstance(performance, Spread) else ("", "")
    profiles = profiles_from(*own)
    if name and name not in seen and profiles.model(name) is profiles.model(""):
        known = {*(each.name for each in profiles.models.values()), *seen} - {"", "*"}
        raise BloxError(f"no model is called {name!r}", where="model", fix=suggestion(name, known))


def _look(paused: Paused, job: JobTable, believed: Any, draw: int) -> tuple[float, float]:
    """Start and finish of the job in one look ahead."""
    row = paused.job_state.submitted

    def done(job_state: JobState) -> bool:
        return bool(job_state.columns.status[row] == FINISHED)

    ahead = look_ahead(
        paused.cluster_state,
        paused.job_state,
        paused.policies,
        paused.conditions,
        believed(paused.job_state, draw),
        arrivals=[job],
        until=done,
    )
    columns = ahead.job_state.columns
    return float(columns.first_start_s[row]), float(columns.finish_s[row])


def _percentiles(seconds: Array, percent: tuple[float, ...]) -> list[float]:
    """Percentiles of values that were seen; a nan counts as longer than everything."""
    values = np.where(np.isnan(seconds), np.inf, seconds)
    return [float(value) for value in np.percentile(values, percent, method="inverted_cdf")]
