from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from blox.durations import Seconds
from blox.errors import BloxError
from blox.registry import check_choices, register
from blox.schedulers.fair_share.accounts import Accounts
from blox.schedulers.fair_share.factors import classic, fair_tree
from blox.schedulers.fair_share.slurm_conf import SlurmConf, read_slurm_conf
from blox.schedulers.fair_share.usage import Usage
from blox.schedulers.fairtree import WEEK, check_half_life
from blox.state.believed import believed_s
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.schedule import Schedule
from blox.workloads.table import Array
from blox.workloads.text_files import read_toml

_WEIGHTS = ("age", "fairshare", "jobsize", "partition", "qos", "tres")
_QOS = "give a table in the file of shares: [qos], then high = 100"


@register.scheduling("multifactor")
@dataclass(frozen=True)
class Multifactor:
    """Slurm's multifactor priority: a weighted sum of factors from 0 to 1, the largest first.

    The weights are those of slurm.conf: `age` (time in the queue, 1 after `max_age`), `fairshare`, `jobsize`
    (part of the cluster's GPUs; `favor_small` turns it round), `partition` and `qos` (each over the largest
    there is), `tres` (PriorityWeightTRES for gres/gpu: again the part of the GPUs). `conf` reads them, and
    partitions, out of a slurm.conf; what is given here goes before it. With neither, fairshare is 10,000 and
    age 1,000. `shares` is the file of accounts, users and QOS. `algorithm`: `tree` (Slurm's default) or
    `classic`, with `damping`. Usage is GPU time, halved every `half_life`. The partition and QOS of a job are
    its columns `partition` and `qos`, where the workload has them.

    The sum is cut to a whole number, as in Slurm; equal ones go by submission. Partitions with a higher
    PriorityTier go first. Departs from Slurm: sizes and usage count GPUs, not CPUs or billing; priorities are
    worked out at every decision, not every PriorityCalcPeriod; nice, site and association factors are not
    there. `backfill:order=multifactor` is what clusters run; alone, a job that does not fit blocks others.
    """

    age: float | None = None
    fairshare: float | None = None
    jobsize: float | None = None
    partition: float | None = None
    qos: float | None = None
    tres: float | None = None
    max_age: Seconds | None = None
    half_life: Seconds | None = None
    favor_small: bool = False
    algorithm: Literal["", "tree", "classic"] = ""
    damping: float = 0.0
    conf: str = ""
    shares: str = ""
    strict: bool = True

    def __post_init__(self) -> None:
        check_choices(self)
        check_half_life(self._half_life_s)
        if not self._max_age_s > 0:
            raise BloxError(
                f"max_age is {self._max_age_s:g} s", fix="max_age must be a time above 0, such as 7d"
            )
        if not any(self._weights.values()) or min(self._weights.values()) < 0:
            fix = f"weights are 0 or more, and one of {', '.join(_WEIGHTS)} is above: age=1000"
            raise BloxError(f"the weights are {self._weights}", fix=fix)
        _ = self._qos, self._accounts()

    @cached_property
    def _conf(self) -> SlurmConf:
        return read_slurm_conf(self.conf) if self.conf else SlurmConf()

    @cached_property
    def _weights(self) -> dict[str, float]:
        """As given, or as in slurm.conf; with neither, fair share ten times as much as age."""
        given = {name: getattr(self, name) for name in _WEIGHTS}
        silent = not self.conf and all(value is None for value in given.values())
        default = _USUAL if silent else self._conf.weights
        return {name: default.get(name, 0.0) if value is None else value for name, value in given.items()}

    @property
    def reads_durations(self) -> bool:
        """Job sizes relative to time limits (SMALL_RELATIVE_TO_TIME) go by what is believed."""
        return self._conf.relative_to_time

    def _accounts(self) -> Accounts:
        """The tree of the file; one may be there for its QOS alone."""
        given = bool(self.shares) and "accounts" in read_toml(self.shares, fix=_QOS)
        return Accounts(self.shares if given else "")

    @property
    def _half_life_s(self) -> float:
        return self._conf.times.get("half_life", WEEK) if self.half_life is None else self.half_life

    @property
    def _max_age_s(self) -> float:
        return self._conf.times.get("max_age", WEEK) if self.max_age is None else self.max_age

    @cached_property
    def _qos(self) -> dict[str, float]:
        table = read_toml(self.shares, fix=_QOS).get("qos", {}) if self.shares else {}
        if not isinstance(table, dict) or not all(isinstance(each, int | float) for each in table.values()):
            raise BloxError(f"qos is {table!r}", where=self.shares, fix=_QOS)
        return {str(name): float(value) for name, value in table.items()}

    def schedule(self, job_state: JobState, cluster_state: ClusterState) -> Schedule:
        priority = np.floor(self.priority(job_state, cluster_state))
        tier = self._of_column(job_state, "partition", self._conf.partition_tier)
        return Schedule.ordered(job_state, by=(-tier, -priority), strict=self.strict, preempt=False)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Priorities change as time passes; that does not matter while no job waits."""
        return math.inf if job_state.running.all() else job_state.now

    def priority(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        """The weighted sum of every active job, before it is cut to a whole number."""
        weights = self._weights
        total = max(cluster_state.spec.total_gpus, 1)
        size = job_state.gpus / total
        found = weights["age"] * np.minimum((job_state.now - job_state.submit_s) / self._max_age_s, 1.0)
        found = found + weights["jobsize"] * self._size_factor(size, total, job_state)
        found = found + weights["tres"] * size
        found = found + weights["partition"] * _over_largest(
            self._of_column(job_state, "partition", self._conf.partition_factor), self._conf.partition_factor
        )
        found = found + weights["qos"] * _over_largest(
            self._of_column(job_state, "qos", self._qos), self._qos
        )
        if weights["fairshare"]:
            found = found + weights["fairshare"] * self._fair_share(job_state)
        return np.asarray(found)

    def _size_factor(self, size: Array, total: int, job_state: JobState) -> Array:
        if self._conf.relative_to_time:
            minutes = np.maximum(believed_s(job_state, job_state.active) / 60, 1.0)
            return np.minimum(size / minutes, 1.0)
        if self.favor_small or self._conf.favor_small:
            return 1.0 - (size - 1 / total)
        return size

    def _fair_share(self, job_state: JobState) -> Array:
        usage = job_state.memory(self, lambda: Usage(self._accounts()))
        usage.accounts.set_usage(usage.update(job_state, self._half_life_s))
        use_classic = self.algorithm == "classic" or (not self.algorithm and bool(self._conf.classic))
        damping = self.damping or self._conf.damping or 1.0
        factors = classic(usage.accounts, damping) if use_classic else fair_tree(usage.accounts)
        by_user = np.array([factors[user] for user in usage.numbers])
        return by_user.take(usage.of_row.take(job_state.active)) if len(by_user) else np.empty(0)

    def _of_column(self, job_state: JobState, name: str, values: dict[str, float]) -> Array:
        """What a table says of each job's partition or QOS; 0 where it says nothing."""
        column = job_state.columns.extra.get(name)
        if column is None or not values:
            return np.zeros(len(job_state.active))
        return np.array([values.get(str(each), 0.0) for each in column.take(job_state.active).tolist()])


_USUAL = {"age": 1000.0, "fairshare": 10_000.0}


def _over_largest(values: Array, table: dict[str, float]) -> Array:
    largest = max(table.values(), default=0.0)
    return values / largest if largest > 0 else values
