"""The cones of a conic program: numbers that are not negative, and second-order cones of three dimensions.

A vector holds the plain numbers first, then the cones one after another. (u, v, w) is in a second-order cone
where u >= sqrt(v^2 + w^2). Names after Vandenberghe's notes on CVXOPT, from which the formulas are.
"""

from __future__ import annotations

import numpy as np

from blox.workloads.table import Array

LONGEST, SHORTEST = 0.999, 1e-6  # steps, as parts of the way to the boundary
MARGIN = 0.99  # how deep inside a vector must be to be left as it is
# Added to squared scalings, so that nothing is singular. ECOS does not take it out again by refinement: it is
# part of the path. In a cone the signs are those of ECOS, too.
NUDGE = 7e-8
NUDGES = NUDGE * np.diag([1.0, 1.0, -1.0, 0.0, -1.0])


class Cones:
    """`plain` numbers and `cones` second-order cones, with the scaling at the present point."""

    def __init__(self, plain: int, cones: int) -> None:
        self.plain, self.cones = plain, cones
        self.unit = np.concatenate([np.ones(plain), np.tile([1.0, 0.0, 0.0], cones)])

    def neutral(self) -> None:
        """Nothing is scaled."""
        self.square = np.ones(self.plain)
        self.w = np.ones(self.plain)
        self.turn = np.repeat(np.eye(3)[None], self.cones, axis=0)
        self.spread = np.repeat((np.diag([1.0, 1.0, 1.0, 1.0, -1.0]) + NUDGES)[None], self.cones, axis=0)

    def inside(self, v: Array) -> Array:
        """The vector, moved along the unit until it is well inside."""
        least = float(v[: self.plain].min())
        if self.cones:
            u = self._of(v)
            least = min(least, float((u[:, 0] - np.hypot(u[:, 1], u[:, 2])).min()))
        return v + (1.0 + max(-least, -MARGIN) if least <= 0 else 1.0 - MARGIN) * self.unit

    def scale_at(self, s: Array, z: Array) -> bool:
        """Takes the Nesterov-Todd scaling at (s, z); False if one of them is outside."""
        if (s[: self.plain] <= 0).any() or (z[: self.plain] <= 0).any():
            return False
        self.square = s[: self.plain] / z[: self.plain]
        self.w = np.sqrt(self.square)
        if not self.cones:
            return True
        a, b = self._of(s), self._of(z)
        deep_s, deep_z = _depth(a), _depth(b)
        if (deep_s <= 0).any() or (deep_z <= 0).any():
            return False
        a, b = a / np.sqrt(deep_s)[:, None], b / np.sqrt(deep_z)[:, None]
        gamma = np.sqrt(0.5 * (1.0 + (a * b).sum(axis=1)))
        point = (a + b * np.array([1.0, -1.0, -1.0])) / (2.0 * gamma[:, None])
        turn = np.empty((self.cones, 3, 3))
        turn[:, 0, :], turn[:, :, 0] = point, point
        side = point[:, 1:]
        turn[:, 1:, 1:] = np.eye(2) + side[:, :, None] * side[:, None, :] / (1.0 + point[:, 0])[:, None, None]
        self.turn = turn * (deep_s / deep_z)[:, None, None] ** 0.25
        self.spread = _spread(point) * np.sqrt(deep_s / deep_z)[:, None, None] + NUDGES
        return True

    def scaled(self, z: Array) -> Array:
        """The scaling times a vector."""
        found = np.empty_like(z)
        found[: self.plain] = self.w * z[: self.plain]
        if self.cones:
            found[self.plain :] = (self.turn @ self._of(z)[:, :, None]).ravel()
        return found

    def squares(self) -> Array:
        """The squared scaling of plain numbers, nudged; 0 in place of cones."""
        return np.concatenate([self.square + NUDGE, np.zeros(3 * self.cones)])

    def squared(self, z: Array, more: Array) -> tuple[Array, Array]:
        """The squared scaling, nudged, times a vector whose cones have two more entries each."""
        found = np.empty_like(z)
        found[: self.plain] = (self.square + NUDGE) * z[: self.plain]
        if not self.cones:
            return found, more
        spread = (self.spread @ np.concatenate([self._of(z), more], axis=1)[:, :, None])[:, :, 0]
        found[self.plain :] = spread[:, :3].ravel()
        return found, spread[:, 3:]

    def product(self, u: Array, v: Array) -> Array:
        found = np.empty_like(u)
        found[: self.plain] = u[: self.plain] * v[: self.plain]
        if self.cones:
            a, b, c = self._of(u), self._of(v), self._of(found)
            c[:, 0] = (a * b).sum(axis=1)
            c[:, 1:] = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:]
        return found

    def quotient(self, w: Array, u: Array) -> Array:
        """v with product(u, v) = w."""
        found = np.empty_like(u)
        found[: self.plain] = w[: self.plain] / u[: self.plain]
        if self.cones:
            a, b, c = self._of(u), self._of(w), self._of(found)
            depth, side = _depth(a), (a[:, 1:] * b[:, 1:]).sum(axis=1)
            c[:, 0] = (a[:, 0] * b[:, 0] - side) / depth
            c[:, 1:] = (b[:, 1:] - a[:, 1:] * c[:, :1]) / a[:, :1]
        return found

    def reach(
        self, centre: Array, to_s: Array, to_z: Array, tau: tuple[float, float], kappa: tuple[float, float]
    ) -> float:
        """How far one can go in these (scaled) directions before something leaves its cone."""
        here = centre[: self.plain]
        steepest = max(
            0.0, -float((to_s[: self.plain] / here).min()), -float((to_z[: self.plain] / here).min())
        )
        for value, change in (tau, kappa):
            steepest = max(steepest, -change / value)
        if self.cones:
            k = self._of(centre)
            size = np.sqrt(_depth(k))
            k = k / size[:, None]
            for direction in (self._of(to_s), self._of(to_z)):
                along = k[:, 0] * direction[:, 0] - (k[:, 1:] * direction[:, 1:]).sum(axis=1)
                part = (along + direction[:, 0]) / (k[:, 0] + 1.0)
                side = direction[:, 1:] - part[:, None] * k[:, 1:]
                steepest = max(steepest, float(((np.hypot(side[:, 0], side[:, 1]) - along) / size).max()))
        return min(max(1.0 / max(steepest, 1e-13), SHORTEST), LONGEST)

    def _of(self, v: Array) -> Array:
        """The second-order cones of a vector, one per line."""
        return v[self.plain :].reshape(self.cones, 3)


def _depth(u: Array) -> Array:
    """u^2 - v^2 - w^2: above 0 inside."""
    depth: Array = u[:, 0] ** 2 - u[:, 1] ** 2 - u[:, 2] ** 2
    return depth


def _spread(point: Array) -> Array:
    """The squared scaling of cones over two more variables each, which makes it sparse and well-behaved."""
    head, side = point[:, 0], point[:, 1:]
    w = (side * side).sum(axis=1)
    c = 1.0 + head + w / (1.0 + head)
    d = 1.0 + 2.0 / (1.0 + head) + w / (1.0 + head) ** 2
    first = np.maximum(0.5 * (head**2 + w * (1.0 - c**2 / (1.0 + w * d))), 0.0)
    last = head**2 + w - first
    found = np.zeros((len(point), 5, 5))
    found[:, 0, 0] = first
    found[:, [1, 2, 3], [1, 2, 3]] = 1.0
    found[:, 4, 4] = -1.0
    found[:, 0, 4] = found[:, 4, 0] = np.sqrt(last)
    up = np.sqrt(c**2 / last)[:, None] * side
    across = np.sqrt(np.maximum(c**2 / last - d, 0.0))[:, None] * side
    found[:, 1:3, 4], found[:, 4, 1:3] = up, up
    found[:, 1:3, 3], found[:, 3, 1:3] = across, across
    return found
