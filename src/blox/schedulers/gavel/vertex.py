"""Programs solved by the simplex method of HiGHS: exact, at a corner of the optimal face.

The model is built once; demands and objective are then changed in place, and every further solve starts from
the basis of the last one. Nothing is kept from one allocation to the next, so the same problem always has the
same answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.schedulers.gavel.program import Answer, Program
from blox.schedulers.gavel.solvers import solver
from blox.workloads.table import Array

DECISIVE = 1e-9  # of the sum: a demand with less does not bind, but for rounding


class Vertex:
    """One program inside HiGHS, to be asked again and again under other demands."""

    def __init__(self, program: Program) -> None:
        highspy = solver("highspy")
        self._inf = highspy.kHighsInf
        self.program = program
        kinds, types = len(program.count), len(program.gpus)
        self._use = np.argwhere(program.useful)
        self._time, self._cap, self._demand = 0, kinds, kinds + types
        self._scale = 1.0 / (program.count * np.maximum(program.speed_first[:kinds].max(axis=1), 1e-300))
        self._tau = 1.0
        self._columns = len(self._use) + 1
        self._rows = 2 * kinds + types + 1
        self._rise = np.zeros(kinds)
        self._highs = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),  # without it the basis survives, and programs over kinds are small
            ("simplex_strategy", 4),  # primal: changed objectives leave the basis feasible
            ("primal_feasibility_tolerance", 1e-10),
            ("dual_feasibility_tolerance", 1e-10),
        ):
            self._highs.setOptionValue(option, value)
        self._highs.passModel(self._model(highspy))
        self._optimal = highspy.HighsModelStatus.kOptimal

    def __call__(self, rise: Array, floor: Array, gain: Array | None = None) -> Answer | None:
        """The best answer under these demands, or None where they cannot be met.

        Without `gain` (combinations x types) the level t is maximised, with it the sum of gain x fraction.
        """
        self._demands(rise, floor)
        cost = np.zeros(self._columns)
        if gain is None:
            cost[-1] = -1.0
        else:
            at = gain[self._use[:, 0], self._use[:, 1]]
            cost[:-1] = -at / max(float(np.abs(at).max(initial=0.0)), 1e-300)
        self._highs.changeColsCost(self._columns, np.arange(self._columns, dtype=np.int32), cost)
        self._highs.run()
        if self._highs.getModelStatus() != self._optimal:
            return None
        found = self._highs.getSolution()
        values = np.maximum(np.array(found.col_value), 0.0)
        x = np.zeros(self.program.useful.shape)
        x[self._use[:, 0], self._use[:, 1]] = values[:-1]
        prices = np.abs(np.array(found.row_dual)[self._demand : self._demand + len(rise)])
        binding = prices * self._rise
        binding[binding < DECISIVE / len(binding)] = 0.0
        return Answer(x, float(values[-1]) / self._tau, binding)

    def hold(self, gain: Array, value: float) -> None:
        """From now on the sum of gain x fraction is at least `value`."""
        row, size = self._rows - 1, float(np.abs(gain).max(initial=0.0)) or 1.0
        at = gain[self._use[:, 0], self._use[:, 1]] / size
        for column in np.flatnonzero(at).tolist():
            self._highs.changeCoeff(row, column, float(at[column]))
        self._highs.changeRowBounds(row, value / size, self._inf)

    def _demands(self, rise: Array, floor: Array) -> None:
        kinds = len(rise)
        rising = rise > 0
        per_level = rise * self.program.count * self._scale
        if rising.any() and not self._rise.any():  # once, so that later levels are in the same unit
            self._tau = float(np.median(per_level[rising]))
        wanted = per_level / self._tau
        for kind in np.flatnonzero(wanted != self._rise).tolist():
            self._highs.changeCoeff(self._demand + kind, self._columns - 1, -float(wanted[kind]))
        self._rise = wanted
        least = np.where(rising | (floor > 0), floor * self.program.count * self._scale, -self._inf)
        rows = np.arange(self._demand, self._demand + kinds, dtype=np.int32)
        self._highs.changeRowsBounds(kinds, rows, least, np.full(kinds, self._inf))
        top = self._inf if rising.any() else 0.0
        self._highs.changeColBounds(self._columns - 1, 0.0, top)

    def _model(self, highspy: Any) -> Any:
        program, size = self.program, len(self._use)
        row, kind_of_gpu = self._use.T
        first, second = program.first[row], program.second[row]
        paired, twins = second >= 0, first == second
        ones = np.ones(size)
        speed = [each[row, kind_of_gpu] for each in (program.speed_first, program.speed_second)]
        both = np.where(twins, speed[0] + speed[1], speed[0])
        entries = [  # (row, value, where it stands)
            (self._time + first, np.where(twins, 2.0, 1.0), ones > 0),
            (self._time + second, ones, paired & ~twins),
            (self._cap + kind_of_gpu, program.width[first], ones > 0),
            (self._demand + first, both * self._scale[first], both > 0),
            (self._demand + second, speed[1] * self._scale[second], paired & ~twins & (speed[1] > 0)),
        ]
        stands = np.column_stack([each[2] for each in entries])
        starts = np.concatenate([[0], np.cumsum(stands.sum(axis=1))])
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self._columns, self._rows
        lp.col_cost_ = np.zeros(self._columns)
        lp.col_lower_ = np.zeros(self._columns)
        lp.col_upper_ = np.full(self._columns, self._inf)
        free = np.full(len(program.count) + 1, self._inf)  # demands, and the row for a value to be held
        lp.row_lower_ = np.concatenate([np.full(self._demand, -self._inf), -free])
        lp.row_upper_ = np.concatenate([program.count, program.gpus, free])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.append(starts, starts[-1]).astype(np.int32)
        lp.a_matrix_.index_ = np.column_stack([each[0] for each in entries])[stands].astype(np.int32)
        lp.a_matrix_.value_ = np.column_stack([each[1] for each in entries])[stands]
        return lp
