from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from blox.errors import BloxError
from blox.protocols import for_ever
from blox.registry import check_choices, register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array
from blox.workloads.text_files import read_toml

_ROUNDING = 1e-9  # of a resource: shares of the same size add up to the whole
_WEIGHTS = "give a table of weights: [weights], then vision = 2"


@register.scheduling("drf")
@dataclass(frozen=True)
class Drf:
    """Dominant resource fairness (NSDI'11): the user whose largest share of any resource is smallest is next.

    Resources are GPUs, CPU cores and memory; a cluster that does not say how many cores or GB it has has no
    limit of them. A job that does not say what it needs takes its GPUs' part of a node. Users are tenants,
    or the values of `by`. `weights` is a file of what each counts for: `[weights]`, then `vision = 2`. The
    next job of a user is the most urgent, then the oldest. One that does not fit ends its user's turn alone.

    Departs from the paper: jobs are not divided, and run to their end; cores and memory are counted over the
    whole cluster, GPUs by the placement.
    """

    by: Literal["tenant", "user", "group"] = "tenant"
    weights: str = ""

    def __post_init__(self) -> None:
        check_choices(self)
        _ = self._weight

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        demand, total = _demands(job_state, cluster_state)
        running = job_state.running
        names = getattr(job_state.columns, self.by).take(job_state.active).tolist()
        weight = self._weight
        used: dict[str, Array] = {name: np.zeros(3) for name in names}
        for at in running.nonzero()[0].tolist():
            used[names[at]] += demand[at]
        free = total - sum(used.values(), np.zeros(3))
        queues = _queues(names, running, job_state.priority)
        line = [(_share(used[name], total, weight, name), name) for name in queues]
        heapq.heapify(line)
        starting: list[int] = []
        while line:
            _, name = heapq.heappop(line)
            at = queues[name].pop()
            if (demand[at] > free + _ROUNDING * total).any():
                continue
            starting.append(at)
            free, used[name] = free - demand[at], used[name] + demand[at]
            if queues[name]:
                heapq.heappush(line, (_share(used[name], total, weight, name), name))
        rows = job_state.active
        jobs = np.concatenate((rows[running], rows[np.array(starting, dtype=np.int64)]))
        return Schedule(jobs, preempt=False)

    stable_until = for_ever  # shares change when jobs start and end

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> str:
        return (
            f"other jobs of a {self.by} with a smaller dominant share took the GPUs, cores or memory it needs"
        )

    @cached_property
    def _weight(self) -> dict[str, float]:
        table = read_toml(self.weights, fix=_WEIGHTS).get("weights") if self.weights else {}
        if not isinstance(table, dict) or not all(_positive(value) for value in table.values()):
            raise BloxError(f"weights is {table!r}", where=self.weights, fix=f"{_WEIGHTS}; all above 0")
        return {str(name): float(value) for name, value in table.items()}


def _positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e15


def _share(used: Array, total: Array, weight: dict[str, float], name: str) -> float:
    """The dominant share: the largest part of any resource, over the weight of its user."""
    return float((used / total).max()) / weight.get(name, 1.0)


def _queues(names: list[str], running: Array, priority: Array) -> dict[str, list[int]]:
    """The waiting jobs of each user as positions, the next one last."""
    found: dict[str, list[int]] = {}
    for at in np.lexsort((np.arange(len(names)), -priority))[::-1].tolist():
        if not running[at]:
            found.setdefault(names[at], []).append(at)
    return found


def _demands(job_state: JobState, cluster_state: ClusterState) -> tuple[Array, Array]:
    """GPUs, cores and memory of each active job, and of the nodes that are up; inf: there is no limit."""
    up, gpus = cluster_state.node_up, job_state.gpus
    have = [cluster_state.node_gpus, cluster_state.node_cpu, cluster_state.node_memory_gb]
    total = np.array([float(each[up].sum()) for each in have])
    part = gpus / max(total[0], 1.0)
    wanted = [gpus.astype(np.float64)]
    for column, all_of_it in (("cpu", total[1]), ("memory_gb", total[2])):
        asked = job_state.column(column)
        wanted.append(np.where(np.isnan(asked), part * all_of_it, asked))
    return np.stack(wanted, axis=1), np.where(total > 0, total, np.inf)
