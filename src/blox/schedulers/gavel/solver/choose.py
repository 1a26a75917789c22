"""Which of many optimal allocations is taken: a stated rule, so that results do not depend on the solver.

Most of Gavel's programs have many optima: only the worst-off jobs decide the objective. `choice` says which
one is meant:

* `fairest` (the default): with the objective held, the worst-off of the other jobs are raised as far as they
  can be, then the next, `depth` times (water filling); what is left over goes to the sum of levels, and GPU
  time that helps no job is not taken. Where kinds are too many for that in the time (300, or 60 that could
  share), it is the centre instead.
* `centre`: the analytic centre of the optimal face, where spare time is spread over jobs and types. The
  original ends near it; compat presets use it.
* `any`: the corner that the simplex method meets first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from blox.errors import BloxError
from blox.schedulers.gavel.solver.interior import centre
from blox.schedulers.gavel.solver.program import Answer, Program
from blox.schedulers.gavel.solver.vertex import Vertex
from blox.workloads.table import Array

Choice = Literal["fairest", "centre", "any"]
DEPTH = 4
# above so many kinds the interior-point method is quicker than the simplex method
MOST_KINDS_ALONE, MOST_KINDS_SHARING = 300, 60
HELD = 1.0 - 1e-10  # what was reached is held but for the rounding of the solver
ROOM = 1.0 - 1e-7  # an interior-point method needs room between what is held and what can be had
GOLDEN = 0.6180339887498949  # multiples of the golden ratio, modulo 1, never repeat: a fixed order of columns


@dataclass(frozen=True, eq=False)
class Levels:
    """An allocation, the objective's own level, and the steps/s that each kind's jobs are promised."""

    x: Array
    t: float
    speed: Array


def _small(program: Program) -> bool:
    """Whether the simplex method is the quicker one."""
    shared = len(program.first) > len(program.count)
    return len(program.count) <= (MOST_KINDS_SHARING if shared else MOST_KINDS_ALONE)


def highest_level(program: Program, choice: Choice = "fairest", depth: int = DEPTH) -> Levels | None:
    """The answer with the highest level t, of those the one that `choice` means; None if there is none."""
    solve = solver_for(program, choice)
    if choice == "fairest" and isinstance(solve, Vertex):
        return fill(program, solve, depth)
    answer = solve(program.rise, program.floor)
    return None if answer is None else Levels(answer.x, answer.t, program.floor + program.rise * answer.t)


def highest_gain(program: Program, choice: Choice, depth: int, rise: Array) -> Levels | None:
    """The answer with the largest sum of gains; of those, levels by `rise` (steps/s per level) decide."""
    zero = np.zeros(len(program.count))
    solve = solver_for(program, choice)
    best = solve(zero, program.floor, program.gain)
    if best is None:
        return None
    found = Levels(best.x, 0.0, program.floor)
    if choice != "fairest" or not isinstance(solve, Vertex):
        return found
    solve.hold(program.gain, float((program.gain * best.x).sum()) * HELD)
    return fill(program.with_levels(rise, program.floor * HELD), solve, depth) or found


class _Centre:
    """The interior-point method; from where it finds no more answer on, the simplex method."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._vertex: Vertex | None = None

    def __call__(self, rise: Array, floor: Array, gain: Array | None = None) -> Answer | None:
        if self._vertex is None:
            try:
                return self._inside(rise, floor, gain)
            except BloxError:  # no room inside
                self._vertex = Vertex(self.program)
        return self._vertex(rise, floor, gain)

    def _inside(self, rise: Array, floor: Array, gain: Array | None) -> Answer | None:
        program = replace(self.program, rise=rise, floor=floor * ROOM, level=bool(rise.any()))
        if floor.any():  # can it be had at all?
            most = centre(replace(program, rise=floor, floor=np.zeros(len(floor)), level=True))
            if most.t < 1.0 - 1e-7:
                return None
        return centre(program if gain is None else replace(program, gain=gain))


def solver_for(program: Program, choice: Choice) -> Vertex | _Centre:
    """What answers `(rise, floor, gain)` for this program, as often as asked."""
    return Vertex(program) if choice != "centre" and _small(program) else _Centre(program)


def fill(
    program: Program, solve: Vertex, depth: int, reweight: Callable[[Array], Array] | None = None
) -> Levels | None:
    """Rounds of water filling: raise all kinds alike, fix those that can rise no more, raise the others.

    `reweight(final)` gives the rises of a further round from the kinds that can rise no more.
    """
    final, floor = program.rise <= 0, program.floor.astype(np.float64)
    found: Levels | None = None
    for _ in range(min(depth, len(final))):
        rise = np.where(final, 0.0, program.rise if reweight is None else reweight(final))
        if not rise.any():
            break
        answer = solve(rise, floor * HELD) or solve(rise, floor * ROOM)
        if answer is None:
            break
        floor = floor + rise * answer.t
        found = Levels(answer.x, answer.t if found is None else found.t, floor)
        binding = (answer.binding > 0) & (rise > 0)
        final = final | (binding if binding.any() else rise > 0)
    return None if found is None else _spend(program, solve, found)


def _spend(program: Program, solve: Vertex, found: Levels) -> Levels:
    """With every level held: the largest sum of levels, then the least GPU time, then a fixed order."""
    rows, types = program.speed_first.shape
    by_order = (np.arange(1, rows * types + 1) * GOLDEN % 1.0).reshape(rows, types)
    unit = np.maximum(found.speed, 1e-300)
    worth = np.where(found.speed > 0, 1.0 / unit, 0.0)
    gain = (
        worth[program.first, None] * program.speed_first + worth[program.second, None] * program.speed_second
    )
    gain = gain / max(float(gain.max(initial=0.0)), 1e-300)
    time = program.width[program.first, None] * (1.0 + 0.1 * by_order)
    answer = solve(np.zeros(len(worth)), found.speed * HELD, gain - 1e-4 * time)
    return found if answer is None else Levels(answer.x, found.t, found.speed)
