"""The rows of a program as operators on one long vector of variables, for the interior-point method.

Variables: [x (columns), slack of time, slack of GPUs, surplus of speed, t]. Rows: [time of each kind, GPUs of
each type, speed of each kind]. Speeds are scaled to order 1, and t with them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from blox.schedulers.gavel.solver.program import Program
from blox.workloads.table import Array


class Rows:
    """The rows of a program: `apply(variables) = right` where the variables are feasible."""

    def __init__(self, program: Program, asked: Array) -> None:
        """`asked` says which kinds' speeds matter; the others' rows are empty."""
        self.program, self.asked = program, asked
        self.kinds, self.types = kinds, _ = len(program.count), len(program.gpus)
        fastest = np.maximum(program.speed_first[:kinds].max(axis=1, initial=0.0), 1e-300)
        self.scale = np.where(asked, 1.0 / fastest, 0.0)
        per_level = program.rise * program.count * self.scale
        self.tau = float(np.median(per_level[per_level > 0])) if (per_level > 0).any() else 1.0
        self.rise = per_level / self.tau
        self.right = np.concatenate([program.count, program.gpus, program.floor * program.count * self.scale])
        self.speed = program.speed_first * self.scale[program.first, None]
        self.wide = program.width[program.first, None]
        self.mine, self.other = program.first[kinds:], program.second[kinds:]  # of the pairs
        self.shared = len(self.mine) > 0
        self.beside = program.speed_second[kinds:] * self.scale[self.other, None]
        self.size = self.speed.size

    @cached_property
    def cost(self) -> Array:
        """What is minimised: -t, or -gain of x."""
        gain = self.program.gain.ravel() / max(float(np.abs(self.program.gain).max(initial=0.0)), 1e-300)
        x = np.zeros(self.size) if self.program.level else -gain
        rest = np.zeros(2 * self.kinds + self.types)
        # a level that is not asked for goes to 0
        return np.concatenate([x, rest, [-1.0 if self.program.level else 1.0]])

    @cached_property
    def weight(self) -> Array:
        """How many variables of the program over jobs each variable stands for: the centre is that one's."""
        ways = np.repeat(self.program.ways, self.types)
        count, ones = self.program.count, np.ones(self.types)
        return np.concatenate([ways, count, ones, count, [1.0]])

    def parts(self, v: Array) -> tuple[Array, Array, Array, Array, float]:
        """x (combinations x types), slack of time, slack of GPUs, surplus of speed, t."""
        x, rest, kinds, types = v[: self.size], v[self.size :], self.kinds, self.types
        return (
            x.reshape(self.speed.shape),
            rest[:kinds],
            rest[kinds : kinds + types],
            rest[kinds + types : -1],
            float(rest[-1]),
        )

    def apply(self, v: Array) -> Array:
        x, time, gpus, surplus, t = self.parts(v)
        busy, speed = x.sum(axis=1), (self.speed * x).sum(axis=1)
        held = (self.wide * x).sum(axis=0)
        if self.shared:
            busy = self.gather(busy, busy[self.kinds :])
            speed = self.gather(speed, (self.beside * x[self.kinds :]).sum(axis=1))
        return np.concatenate([busy + time, held + gpus, speed - self.rise * t - surplus])

    def adjoint(self, y: Array) -> Array:
        kinds, first = self.kinds, self.program.first
        time, gpus, speed = y[:kinds], y[kinds:-kinds], y[-kinds:]
        x = time[first, None] + self.wide * gpus + self.speed * speed[first, None]
        if self.shared:
            x[kinds:] += time[self.other, None] + self.beside * speed[self.other, None]
        return np.concatenate([x.ravel(), time, gpus, -speed, [-float(self.rise @ speed)]])

    def gather(self, one: Array, two: Array) -> Array:
        """Sums per kind of what combinations do for their first and pairs for their second kind."""
        found = one[: self.kinds] + np.bincount(self.mine, one[self.kinds :], self.kinds)
        both: Array = found + np.bincount(self.other, two, self.kinds)
        return both

    def start(self) -> Array:
        """An interior point: every job runs alone for half the time, half of everything is spare."""
        program, types = self.program, self.types
        x = np.full(self.speed.shape, 0.0)
        x += (program.ways / (2.0 * types))[:, None]
        if self.shared:
            partners = self.gather(np.ones(len(x)), np.ones(len(x) - self.kinds))
            x = (program.count[program.first] / partners[program.first] / (2.0 * types))[:, None] + 0.0 * x
        speed = self.apply(np.concatenate([x.ravel(), np.zeros(2 * self.kinds + types + 1)]))[-self.kinds :]
        surplus = np.maximum(speed / 2, 1e-3)
        return np.concatenate(
            [x.ravel(), program.count / 2, np.maximum(program.gpus / 2, 1e-3), surplus, [1.0]]
        )
