from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from blox.errors import BloxError
from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.policies.agnostic import in_one_pool
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.gavel.solver.choose import Choice, fill, highest_level
from blox.schedulers.gavel.solver.deal import Partners, deal
from blox.schedulers.gavel.solver.program import Program, program
from blox.schedulers.gavel.solver.vertex import Vertex
from blox.workloads.table import Array

Inside = Literal["fairness", "fifo"]


@dataclass(frozen=True)
class WaterFilling:
    """Lexicographic max-min fairness: when the worst-off can get no more, the next are raised (paper, 4.3).

    With `entity_weights` (one per entity, by `Problem.entity`) it is hierarchical: entities share by their
    weights, and `inside` says for each how its jobs share: `fairness` by their own weights, `fifo` the oldest
    first. A job that can rise no more leaves its part to the others of its entity. Departs from the original
    in how saturated jobs are found: by the program's prices, exactly, where the original solves a
    mixed-integer program with a margin of 1e-4; and in that it does not stop early where a bound of the
    original's happens to bind.
    """

    aware: bool = True
    packed: bool = False
    entity_weights: tuple[float, ...] = ()
    inside: tuple[Inside, ...] = ()
    choice: Choice = "fairest"
    partners: Partners = "all"

    def __post_init__(self) -> None:
        if len(self.inside) not in (0, len(self.entity_weights)) or not set(self.inside) <= {
            "fairness",
            "fifo",
        }:
            raise BloxError(
                f"inside is {self.inside!r} for {len(self.entity_weights)} entities",
                where="gavel water filling",
                fix="give fairness or fifo for each entity, joined with +",
            )

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        if not len(problem.jobs):
            return Allocation.of_jobs(problem.throughput)
        if self.entity_weights and problem.entity.max() >= len(self.entity_weights):
            raise BloxError(
                f"a job is of entity {problem.entity.max()}, but {len(self.entity_weights)} have a weight",
                where="gavel water filling",
                fix="give entity_weights for every entity, numbered from 0",
            )
        if self.aware or self.packed:
            return self._solve(problem, problem.throughput)
        return in_one_pool(problem, np.ones(len(problem.jobs)), self._solve)

    def _solve(self, problem: Problem, speed: Array) -> Allocation:
        unit = (speed @ problem.share) / problem.width
        label = None if not self.entity_weights else self._labels(problem)
        found = program(problem, speed, rise=problem.weight * unit, label=label, packed=self.packed)
        reweight = None if label is None else self._reweight(problem, found, unit)
        levels = fill(found, Vertex(found), len(found.count) + 1, reweight)
        assert levels is not None, "without floors there is always an answer"
        if self.choice == "centre":
            held = found.with_levels(np.zeros(len(found.count)), levels.speed * (1.0 - 1e-7), level=False)
            centred = highest_level(held, "centre")
            levels = levels if centred is None else replace(levels, x=centred.x)
        return deal(found, levels.x, levels.t, self.partners)

    def _labels(self, problem: Problem) -> Array:
        """Jobs of a fifo entity are each of a kind of its own; of a fairness entity, of its kinds."""
        by_age = np.array([each == "fifo" for each in self.inside] or [False] * len(self.entity_weights))
        entities = len(self.entity_weights)
        alone = entities + np.arange(len(problem.jobs))
        labels: Array = np.where(by_age[problem.entity], alone, problem.entity)
        return labels

    def _reweight(self, problem: Problem, found: Program, unit: Array) -> Callable[[Array], Array]:
        one_of = np.unique(found.kind_of, return_index=True)[1]
        entity, weight, unit = problem.entity[one_of], problem.weight[one_of], unit[one_of]
        share = np.array(self.entity_weights)[entity]
        by_age = np.array([each == "fifo" for each in self.inside] or [False] * len(self.entity_weights))[
            entity
        ]
        age = np.argsort(np.argsort(problem.jobs[one_of]))

        def weights(final: Array) -> Array:
            open_, kinds = ~final, len(self.entity_weights)
            total = np.bincount(entity, found.count * weight * open_, kinds)
            fair = share * weight / np.maximum(total[entity], 1e-300)
            oldest = np.full(kinds, len(age))
            np.minimum.at(oldest, entity[open_], age[open_])
            mine = np.where(by_age, np.where(age == oldest[entity], share, 0.0), fair)
            return np.where(final, 0.0, mine * unit)

        return weights
