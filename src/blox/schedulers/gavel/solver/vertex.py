"""Programs solved by the simplex method of HiGHS: exact, at a corner of the optimal face.

The model is built once; demands and objective are then changed in place, and every further solve starts from
the basis of the last one. Nothing is kept from one allocation to the next, so the same problem always has the
same answer.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from blox.schedulers.gavel.solver.program import Answer, Program
from blox.schedulers.gavel.solver.solvers import solver
from blox.workloads.table import Array

DECISIVE = 1e-9  # of the sum: a demand with less does not bind, but for rounding


class Vertex:
    """One program inside HiGHS, to be asked again and again under other demands."""

    _highs: Any = None  # until there is one

    def __init__(self, program: Program) -> None:
        highspy = solver("highspy")
        self._inf = highspy.kHighsInf
        self.program = program
        kinds, types = len(program.count), len(program.gpus)
        self._use = program.useful.nonzero()
        self._time, self._cap, self._demand = 0, kinds, kinds + types
        self._scale = 1.0 / (program.count * np.maximum(program.speed_first[:kinds].max(axis=1), 1e-300))
        self._columns = np.arange(len(self._use[0]) + 1, dtype=np.int32)
        self._demands = np.arange(self._demand, self._demand + kinds, dtype=np.int32)
        self._unlimited = np.full(kinds, self._inf)
        self._tau, self._rise = 1.0, np.zeros(kinds)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._highs = _idle().pop() if _idle() else _quiet(highspy.Highs())
        self._passed = False  # the model: it is with the first demands

    def __del__(self) -> None:
        if self._highs is not None:
            _idle().append(self._highs)

    def __call__(self, rise: Array, floor: Array, gain: Array | None = None) -> Answer | None:
        """The best answer under these demands, or None where they cannot be met.

        Without `gain` (combinations x types) the level t is maximised, with it the sum of gain x fraction.
        """
        self._ask(rise, floor)
        cost = np.zeros(len(self._columns))
        if gain is None:
            cost[-1] = -1.0
        else:
            at = gain[self._use]
            cost[:-1] = -at / max(float(np.abs(at).max(initial=0.0)), 1e-300)
        self._highs.changeColsCost(len(cost), self._columns, cost)
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        found = self._highs.getSolution()
        values = np.maximum(np.array(found.col_value), 0.0)
        x = np.zeros(self.program.useful.shape)
        x[self._use] = values[:-1]
        prices = np.abs(np.array(found.row_dual)[self._demand : self._demand + len(rise)])
        binding = prices * self._rise
        binding[binding < DECISIVE / len(binding)] = 0.0
        return Answer(x, float(values[-1]) / self._tau, binding)

    def hold(self, gain: Array, value: float) -> None:
        """From now on the sum of gain x fraction is at least `value`."""
        row, size = self._demand + len(self._rise), float(np.abs(gain).max(initial=0.0)) or 1.0
        at = gain[self._use] / size
        for column in np.flatnonzero(at).tolist():
            self._highs.changeCoeff(row, column, float(at[column]))
        self._highs.changeRowBounds(row, value / size, self._inf)

    def _levels(self, rise: Array) -> Array:
        """Sets how much a level of t is to every kind; returns the kinds for which that is new."""
        per_level = rise * self.program.count * self._scale
        if not self._rise.any():  # once, so that later levels are in the same unit
            in_order = np.sort(per_level[rise > 0])
            middle = len(in_order) // 2
            self._tau = float(in_order[middle] + in_order[-1 - middle]) / 2 if len(in_order) else 1.0
        wanted = per_level / self._tau
        new: Array = (wanted != self._rise).nonzero()[0]
        self._rise = wanted
        return new

    def _ask(self, rise: Array, floor: Array) -> None:
        t, new = len(self._columns) - 1, self._levels(rise)
        if not self._passed:
            self._pass_model(solver("highspy"))
            self._passed = True
            new = new[:0]
        for kind, rise_of_kind in zip(new.tolist(), self._rise[new].tolist()):
            self._highs.changeCoeff(self._demand + kind, t, -rise_of_kind)
        least = np.where((rise > 0) | (floor > 0), floor * self.program.count * self._scale, -self._inf)
        self._highs.changeRowsBounds(len(rise), self._demands, least, self._unlimited)
        self._highs.changeColBounds(t, 0.0, self._inf if rise.any() else 0.0)

    def _pass_model(self, highspy: Any) -> None:
        program = self.program
        row, kind_of_gpu = self._use
        first, second = program.first[row], program.second[row]
        speed = program.speed_first[self._use]
        rows = [self._time + first, self._cap + kind_of_gpu, self._demand + first]
        values = [np.ones(len(row)), program.width[first], speed * self._scale[first]]
        if len(program.first) > len(program.count):  # some share
            paired, twins = second >= 0, first == second
            other = program.speed_second[self._use]
            apart = paired & ~twins
            values = [values[0] + twins, 1.0 * apart, values[1], (speed + other * twins) * self._scale[first]]
            values.append(other * self._scale[second] * apart)
            rows = [rows[0], self._time + second, *rows[1:], self._demand + second]
        entries, of_row = np.column_stack(values), np.column_stack(rows)
        stands = entries > 0
        level = self._rise.nonzero()[0]
        starts = np.zeros(len(row) + 1, dtype=np.int32)
        np.cumsum(stands.sum(axis=1), out=starts[1:])
        index = np.concatenate((of_row[stands], self._demand + level)).astype(np.int32)
        value = np.concatenate((entries[stands], -self._rise[level]))
        size, free = len(self._columns), np.full(len(program.count) + 1, self._inf)
        self._highs.passModel(
            size,
            self._demand + len(free),  # the last row is for a value to be held
            len(value),
            int(highspy.MatrixFormat.kColwise),
            int(highspy.ObjSense.kMinimize),
            0.0,
            np.zeros(size),
            np.zeros(size),
            np.full(size, self._inf),
            np.append(np.full(self._demand, -self._inf), -free),
            np.concatenate((program.count, program.gpus, free)),
            starts,
            index,
            value,
            np.zeros(size, dtype=np.int32),  # no integers
        )


@lru_cache(maxsize=1)
def _idle() -> list[Any]:
    """Solvers that no program is in: a new model makes one forget the last, and they are dear to set up."""
    return []


def _quiet(highs: Any) -> Any:
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("presolve", "off"),  # without it the basis survives, and programs over kinds are small
        ("simplex_strategy", 4),  # primal: changed objectives leave the basis feasible
        ("primal_feasibility_tolerance", 1e-10),
        ("dual_feasibility_tolerance", 1e-10),
    ):
        highs.setOptionValue(option, value)
    return highs
