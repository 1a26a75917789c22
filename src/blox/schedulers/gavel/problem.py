"""What Gavel's policies are asked: which jobs want to run, how fast each is where, and how many GPUs exist.

A plain table. Nothing here knows of rounds, placement or solvers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from blox.errors import BloxError
from blox.workloads.table import Array

# US dollars per GPU and hour on Google Cloud in 2020, as in the paper's cost policies
COST_PER_HOUR = {"v100": 0.74, "p100": 0.43, "k80": 0.135}


@dataclass(frozen=True, eq=False)
class Pairs:
    """How fast two jobs run that share their GPUs.

    `kind` (n jobs) numbers the kinds of job; `throughput` (kinds x kinds x types) holds at [a, b, j] the
    steps/s of a job of kind a beside one of kind b on type j. Only jobs of equal width are ever paired.
    """

    kind: Array
    throughput: Array


@dataclass(frozen=True, eq=False)
class Problem:
    """The jobs that want to run, and on what: one row per job, one column per GPU type.

    `throughput[i, j]` is what job i does alone on `width[i]` GPUs of type j, in steps/s; 0 where it cannot
    run. `remaining_steps`, `elapsed_s` (since submission) and `slo_s` (seconds left, inf for none) are only
    read by the policies that need them, as are `cost_per_hour` per type, `entity` (the group that each job
    belongs to) and `pairs`. `jobs` are lasting ids, ascending: policies with a memory know jobs by them.
    """

    gpu_types: tuple[str, ...]
    gpus: Array
    throughput: Array
    jobs: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    width: Array = field(default_factory=lambda: np.zeros(0))
    weight: Array = field(default_factory=lambda: np.zeros(0))
    remaining_steps: Array = field(default_factory=lambda: np.zeros(0))
    elapsed_s: Array = field(default_factory=lambda: np.zeros(0))
    slo_s: Array = field(default_factory=lambda: np.zeros(0))
    cost_per_hour: Array = field(default_factory=lambda: np.zeros(0))
    entity: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    pairs: Pairs | None = None

    def __post_init__(self) -> None:
        types = len(self.gpu_types)
        speeds = np.asarray(self.throughput, dtype=np.float64).reshape(-1, types)
        count = len(speeds)
        self._set("throughput", speeds)
        self._set("gpus", np.asarray(self.gpus, dtype=np.float64))
        prices = [COST_PER_HOUR.get(name, 1.0) for name in self.gpu_types]
        for name, default in (
            ("jobs", np.arange(count)),
            ("width", np.ones(count)),
            ("weight", np.ones(count)),
            ("remaining_steps", np.ones(count)),
            ("elapsed_s", np.zeros(count)),
            ("slo_s", np.full(count, np.inf)),
            ("entity", np.zeros(count, dtype=np.int64)),
            ("cost_per_hour", np.array(prices)),
        ):
            given = np.asarray(getattr(self, name))
            self._set(name, given if len(given) else default)
            if len(getattr(self, name)) != len(default):
                raise BloxError(
                    f"{name} has {len(given)} entries instead of {len(default)}", where="Gavel problem"
                )
        self._check()

    @property
    def usable(self) -> Array:
        """Where each job can run (jobs x types): it does something there, and the type has enough GPUs."""
        return (self.throughput > 0) & (self.width[:, None] <= self.gpus)

    @property
    def share(self) -> Array:
        """Each type's part of all GPUs: where a job would be that is moved around at random."""
        part: Array = self.gpus / max(self.gpus.sum(), 1.0)
        return part

    @property
    def proportional(self) -> Array:
        """steps/s of each job if its time were spread over all GPUs alike: the unit of fairness."""
        found: Array = self.throughput @ self.share
        return found

    def isolated_fractions(self) -> Array:
        """Each job on its n-th part of every type, no job for more than all its time (jobs x types)."""
        parts = self.gpus / max(len(self.jobs), 1) / self.width[:, None]
        whole: Array = np.maximum(parts.sum(axis=1, keepdims=True), 1.0)
        return np.asarray(parts / whole)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check(self) -> None:
        for name, lowest in (("throughput", 0.0), ("gpus", 0.0), ("width", 1.0), ("weight", 1e-12)):
            values = getattr(self, name)
            if not (np.isfinite(values).all() and (values >= lowest).all()):
                raise BloxError(
                    f"{name} has values below {lowest:g} or not finite",
                    where="Gavel problem",
                    fix="mend them",
                )
        stuck = np.flatnonzero(~self.usable.any(axis=1))
        if len(stuck):
            first = int(stuck[0])
            types = ", ".join(
                f"{name} ({speed:g} steps/s, {gpus:g} GPUs)"
                for name, speed, gpus in zip(self.gpu_types, self.throughput[first], self.gpus)
            )
            raise BloxError(
                f"job {self.jobs[first]} can run nowhere: it takes {self.width[first]:g} GPUs of one type, "
                f"and there are {types}",
                where="Gavel problem",
                fix="leave it out, give it fewer GPUs, or add GPUs of a type it can run on",
            )
