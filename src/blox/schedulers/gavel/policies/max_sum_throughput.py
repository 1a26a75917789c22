from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.gavel.solver.choose import DEPTH, Choice, Levels, highest_gain, highest_level
from blox.schedulers.gavel.solver.deal import Partners, deal
from blox.schedulers.gavel.solver.program import Program, program


@dataclass(frozen=True)
class MaxSumThroughput:
    """The sum of steps/s is as large as possible; `per_cost`: per dollar/h, for minimum cost (paper, 4.2).

    With `slos`, a job with `slo_s` seconds left gets at least the throughput that it needs. Where that cannot
    be had for all, `relaxed` of the answer names the jobs with an SLO, and `relax` says what is done: `drop`
    all SLOs, as the original does, or `scale` what is needed down to the largest part that can be had for all
    alike.
    """

    per_cost: bool = False
    slos: bool = False
    packed: bool = False
    relax: Literal["drop", "scale"] = "drop"
    choice: Choice = "fairest"
    partners: Partners = "all"
    depth: int = DEPTH

    @property
    def reads_durations(self) -> bool:
        """What a job needs for its SLO follows from the steps that it has left."""
        return self.slos

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        if not len(problem.jobs):
            return Allocation.of_jobs(problem.throughput)
        bound = np.isfinite(problem.slo_s) & self.slos
        needed = np.zeros(len(bound))
        needed[bound] = problem.remaining_steps[bound] / np.maximum(problem.slo_s[bound], 1e-9)
        found = program(
            problem,
            problem.throughput,
            rise=problem.proportional,
            floor=needed,
            value=np.ones(len(bound)),
            type_value=1.0 / problem.cost_per_hour if self.per_cost else None,
            packed=self.packed,
        )
        best = self._best(found)
        relaxed: tuple[int, ...] = ()
        if best is None:
            relaxed = tuple(np.flatnonzero(bound).tolist())
            best = self._best(replace(found, floor=found.floor * self._part(found)))
            assert best is not None, "an SLO that was relaxed can be held"
        dealt = deal(found, best.x, float((found.gain * best.x).sum()), self.partners)
        return replace(dealt, relaxed=relaxed)

    def _best(self, found: Program) -> Levels | None:
        still = replace(found, rise=np.zeros(len(found.count)))
        return highest_gain(still, self.choice, self.depth, found.rise)

    def _part(self, found: Program) -> float:
        """Which part of the throughput that SLOs need is asked for after all."""
        if self.relax == "drop":
            return 0.0
        most = highest_level(found.with_levels(found.floor, np.zeros(len(found.count))), "any")
        return 0.0 if most is None else min(1.0, most.t * (1.0 - 1e-9))
