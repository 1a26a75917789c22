from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from blox.errors import BloxError
from blox.registry import check_choices, register
from blox.schedulers.gittins import read_samples
from blox.schedulers.gittins_history import History
from blox.schedulers.tiresias.queues import SHORT_LINE, Standings
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.line import ActiveLine
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_AT_ONCE_S = 1e-6


@register.scheduling("tiresias")
@dataclass(frozen=True)
class Tiresias:
    """Discretized 2D-LAS: jobs go down a row of queues as their GPU time reaches each `threshold` (NSDI'19).

    Service is GPUs x executed time, in GPU-seconds. A job is demoted exactly when it reaches the threshold of
    its queue (thresholds are joined with `+`, one for every queue but the last). Within a queue jobs go by
    their first start, those that never started after them, by submission. A job that does not fit is passed
    over, also by jobs of lower queues. `promote`: a job that has waited, since it last ran, `promote` times
    as long as it has executed goes back to the first queue, behind the jobs that have started there, and its
    executed time counts from 0; 0: off.

    `index=gittins`: Discretized 2D-Gittins. Within a queue the largest Gittins index of the GPU time goes
    first; sizes come from `distribution`, a file with a column `duration` (GPU-seconds), or where none is
    given from the jobs that have finished. The paper ties the quantum of the index to the queues; this is the
    textbook's index, the supremum over all quanta.
    """

    queues: int = 2
    threshold: tuple[float, ...] = (3200.0,)
    promote: float = 0.0
    index: Literal["las", "gittins"] = "las"
    distribution: str = ""

    def __post_init__(self) -> None:
        check_choices(self)
        if self.queues < 1 or len(self.threshold) < self.queues - 1:
            raise BloxError(
                f"queues is {self.queues}, with {len(self.threshold)} thresholds",
                fix="give a threshold for every queue but the last: queues=3,threshold=3200+12800",
            )
        used = self.threshold[: self.queues - 1]
        if any(low <= 0 for low in used) or any(a >= b for a, b in pairwise(used)):
            raise BloxError(
                f"threshold is {'+'.join(f'{each:g}' for each in used)}",
                fix="thresholds must be above 0 and ascend",
            )
        if not 0 <= self.promote < math.inf:
            raise BloxError(f"promote is {self.promote:g}", fix="promote must be 0 (off) or above")
        if self.distribution and self.index == "las":
            raise BloxError("a distribution without index=gittins", fix="add index=gittins, or leave it out")
        if self.distribution:
            read_samples(self.distribution)

    @property
    def wakes_every_s(self) -> float | None:
        """Demotions and promotions are few, and each has its time: on the events clock none waits for others.

        Indices that are nearly equal pass one another all the time, which is left to the clock's quantum.
        """
        return _AT_ONCE_S if self.index == "las" else None

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        memory = job_state.memory(self, self._memory)
        standings = memory.standings
        if self.promote:
            standings.update(job_state)
            rows, due = standings.promotion_times(job_state, self.promote)
            standings.promote(job_state, rows[due <= job_state.now])
        if memory.history is None:
            waiting = job_state.active_count - cluster_state.running_count
            contested = standings.contested if waiting <= SHORT_LINE else None  # all that wait are contested
            return Schedule(line=ActiveLine(job_state, standings.keys, contested))
        active = job_state.active
        standings.update(job_state)
        memory.history.update(job_state)
        index = memory.history.index(standings.service(job_state, active))
        return Schedule(active, (standings.level.take(active), -index, standings.place.take(active)))

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """The next demotion or promotion; where no job waits, the order decides nothing."""
        if job_state.active_count == cluster_state.running_count:
            return math.inf
        memory = job_state.memory(self, self._memory)
        standings = memory.standings
        standings.update(job_state)
        change = standings.next_demotion(job_state)
        if self.promote:
            change = min(
                change, float(standings.promotion_times(job_state, self.promote)[1].min(initial=math.inf))
            )
        if memory.history is not None:
            change = min(change, self._next_fall(memory, job_state, cluster_state))
        return change

    def job_columns(self, job_state: JobState) -> dict[str, Array]:
        """How often each job was promoted."""
        standings = job_state.memory(self, self._memory).standings
        counts = np.zeros(job_state.submitted, dtype=np.int64)
        known = min(len(counts), len(standings.promotions))
        counts[:known] = standings.promotions[:known]
        return {"promotions": counts}

    def _next_fall(self, memory: _Memory, job_state: JobState, cluster_state: ClusterState) -> float:
        """When a running job's index next falls to that of a waiting job. In between indices rise."""
        assert memory.history is not None
        active = job_state.active
        held = job_state.held_gpus
        service = memory.standings.service(job_state, active)
        index = memory.history.index(service)
        waits = held == 0
        left = memory.history.until_passed(service[~waits], index[~waits], index[waits])
        return job_state.now + float((left / held[~waits]).min(initial=math.inf))

    def _memory(self) -> _Memory:
        history = None
        if self.index == "gittins":
            history = History(read_samples(self.distribution) if self.distribution else None)
        return _Memory(Standings(self.threshold[: self.queues - 1]), history)


@dataclass
class _Memory:
    standings: Standings
    history: History | None

    def renumber(self, rows: Array, before: JobState) -> None:
        """Row r is now `rows[r]`; -1: forgotten (a cluster forgets jobs that ended long ago)."""
        self.standings.renumber(rows)
        if self.history is not None:
            self.history.forget(np.flatnonzero(rows < 0), before)
