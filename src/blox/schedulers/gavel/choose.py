"""Which of many optimal allocations is taken: a stated rule, so that results do not depend on the solver.

Most of Gavel's programs have many optima: only the worst-off jobs decide the objective. `choice` says which
one is meant:

* `fairest` (the default): with the objective held, the worst-off of the other jobs are raised as far as they
  can be, then the next, `depth` times (water filling); what is left over goes to the sum of levels, and GPU
  time that helps nobody is not taken.
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
from blox.schedulers.gavel.interior import centre
from blox.schedulers.gavel.program import Answer, Program
from blox.schedulers.gavel.vertex import Vertex
from blox.workloads.table import Array

Choice = Literal["fairest", "centre", "any"]
DEPTH = 4
# above so many kinds the interior-point method is quicker than the simplex method
MOST_KINDS_ALONE, MOST_KINDS_SHARING = 300, 60
HELD = 1.0 - 1e-10  # what was reached is held but for the rounding of the solver
ROOM = 1.0 - 1e-7  # an interior-point method needs room between what is held and what can be had
GOLDEN = 0.6180339887498949


@dataclass(frozen=True, eq=False)
class Levels:
    """An allocation, the objective's own level, and the steps/s that each kind's jobs are promised."""

    x: Array
    t: float
    speed: Array


def small(program: Program) -> bool:
    """Whether the simplex method is the quicker one."""
    shared = len(program.first) > len(program.count)
    return len(program.count) <= (MOST_KINDS_SHARING if shared else MOST_KINDS_ALONE)


def highest_level(
    program: Program,
    choice: Choice = "fairest",
    depth: int = DEPTH,
    reweight: Callable[[Array], Array] | None = None,
) -> Levels | None:
    """The answer with the highest level t, of those the one that `choice` means; None if there is none.

    `reweight(final)` gives the rises of a further round from the kinds that can rise no more.
    """
    depth = depth if choice == "fairest" else 1
    if choice == "centre" or not small(program):
        found = _fill(program, lambda rise, floor: _centre(program, rise, floor), depth, reweight, 1e-5)
        if found is not None or program.floor.any():
            return found
    model = Vertex(program)
    found = _fill(program, model.solve, depth, reweight, 1e-9)
    if found is None or choice == "any":
        return found
    return _spend(program, model, found)


def highest_gain(program: Program, choice: Choice, depth: int, rise: Array) -> Levels | None:
    """The answer with the largest sum of gains; of those, levels by `rise` (steps/s per level) decide."""
    zero = np.zeros(len(program.count))
    if choice == "centre" or not small(program):
        answer = _centre(replace(program, level=False), zero, program.floor)
        return None if answer is None else Levels(answer.x, 0.0, program.floor)
    model = Vertex(program)
    best = model.solve(zero, program.floor, program.gain)
    if best is None:
        return None
    if choice == "any":
        return Levels(best.x, 0.0, program.floor)
    model.hold(program.gain, float((program.gain * best.x).sum()) * HELD)
    found = _fill(program.with_levels(rise, program.floor * HELD), model.solve, depth, None, 1e-9)
    return Levels(best.x, 0.0, program.floor) if found is None else _spend(program, model, found)


def _fill(
    program: Program,
    solve: Callable[[Array, Array], Answer | None],
    depth: int,
    reweight: Callable[[Array], Array] | None,
    decisive: float,
) -> Levels | None:
    """Rounds of water filling: raise everybody alike, set aside who can rise no more, raise the others."""
    final, floor = program.rise <= 0, program.floor.astype(np.float64)
    found: Levels | None = None
    for _ in range(min(depth, len(final))):
        rise = np.where(final, 0.0, program.rise if reweight is None else reweight(final))
        if not rise.any():
            break
        answer = solve(rise, floor * HELD)
        if answer is None:
            break
        floor = floor + rise * answer.t
        found = Levels(answer.x, answer.t if found is None else found.t, floor)
        binding = (answer.binding > decisive / len(final)) & (rise > 0)
        final = final | (binding if binding.any() else rise > 0)
    return found


def _spend(program: Program, model: Vertex, found: Levels) -> Levels:
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
    answer = model.solve(np.zeros(len(worth)), found.speed * HELD, gain - 1e-4 * time)
    return found if answer is None else Levels(answer.x, found.t, found.speed)


def _centre(program: Program, rise: Array, floor: Array) -> Answer | None:
    """The centre under these demands, or None where they cannot be met, or only without any room inside."""
    try:
        if floor.any() and not rise.any():
            most = centre(replace(program, rise=floor, floor=np.zeros(len(floor)), level=True))
            if most.t < 1.0 - 1e-7:
                return None
        return centre(replace(program, rise=rise, floor=floor * ROOM))
    except BloxError:
        return None
