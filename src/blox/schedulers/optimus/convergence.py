"""Convergence: how many epochs a job still needs, from the losses it has reported.

The loss after k epochs is taken to be 1 / (b0 k + b1) + b2 with all b >= 0 (section 3.1 of the paper: SGD
converges like 1/k).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.errors import BloxError
from blox.workloads.table import Array

UNKNOWN_EPOCHS = 20  # that a job is taken to need while its curve is not known, as in the authors' code
MOST_EPOCHS = 100
FEWEST_POINTS = 3
_GRID, _ZOOMS = 65, 14


@dataclass(frozen=True)
class LossCurve:
    """loss(k) = 1 / (b0 k + b1) + b2; `error` is the sum of squared errors of the fit."""

    b0: float
    b1: float
    b2: float
    error: float = 0.0

    def loss(self, epoch: Array | float) -> Array:
        return np.asarray(1 / (self.b0 * np.asarray(epoch, dtype=np.float64) + self.b1) + self.b2)

    def converges_at(self, delta: float, patience: int = 1) -> int:
        """The first epoch at the end of which the loss has fallen by less than `delta` in each of the last
        `patience` epochs."""
        if not delta > 0 or patience < 1:
            raise BloxError(
                f"delta is {delta!r}, patience {patience!r}",
                where="Optimus",
                fix="delta must be above 0, patience 1 or more",
            )
        # A fall of b0 / (u (u - b0)) where u = b0 k + b1 is less than delta from this k on.
        if self.b0 == 0:
            return patience
        u = self.b0 / 2 + np.sqrt(self.b0**2 / 4 + self.b0 / delta)
        first = max(int((u - self.b1) / self.b0) - 2, 1)
        while self.loss(first - 1) - self.loss(first) >= delta:
            first += 1
        return first + patience - 1


def fit_loss(epoch: Array, loss: Array) -> LossCurve:
    """The curve with the least squared error in the losses.

    For a given b2 the model is linear, 1 / (loss - b2) = b0 k + b1, and b0, b1 follow from non-negative least
    squares, rows weighted so that errors are in units of loss; b2 is searched for in [0, least loss).
    """
    k, seen = np.asarray(epoch, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    if len(k) != len(seen) or len(k) < 2 or not (seen > 0).all():
        raise BloxError("a curve needs two losses above 0, each with its epoch", where="Optimus")
    low, high = 0.0, float(seen.min()) * (1 - 1e-9)
    for _ in range(_ZOOMS):
        grid = np.linspace(low, high, _GRID)
        b0, b1 = _lines(k, seen, grid)
        predicted = 1 / np.maximum(b0[:, None] * k + b1[:, None], 1e-300) + grid[:, None]
        errors = ((predicted - seen) ** 2).sum(axis=1)
        best = int(np.argmin(errors))
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, _GRID - 1)])
    return LossCurve(float(b0[best]), float(b1[best]), float(grid[best]), float(errors[best]))


def epochs_left(
    epoch: Array, loss: Array, *, delta: float = 0.005, patience: int = 10, most: int = MOST_EPOCHS
) -> float:
    """Epochs until convergence, after the last reported; 0 at least, and no more than `most` in all.

    Losses are divided by the largest, so that `delta` is a part of it, and outliers are smoothed. With
    fewer than three losses nothing is known yet: UNKNOWN_EPOCHS.
    """
    k, seen = np.asarray(epoch, dtype=np.float64), np.asarray(loss, dtype=np.float64)
    if len(k) < FEWEST_POINTS:
        return float(UNKNOWN_EPOCHS)
    curve = fit_loss(k, smoothed(seen / seen.max()))
    return float(max(min(curve.converges_at(delta, patience), most) - k[-1], 0.0))


def smoothed(loss: Array) -> Array:
    """Losses, those that lie above or below both neighbours by more than half moved to their mean."""
    seen = np.array(loss, dtype=np.float64)
    before, here, after = seen[:-2], seen[1:-1], seen[2:]
    far = (here > 1.5 * np.maximum(before, after)) | (here < 0.5 * np.minimum(before, after))
    seen[1:-1] = np.where(far, (before + after) / 2, here)
    return seen


def _lines(k: Array, loss: Array, b2: Array) -> tuple[Array, Array]:
    """(b0, b1) >= 0 of the weighted line for every b2: non-negative least squares in two unknowns."""
    above = loss - b2[:, None]
    weight = above**4  # of squares; rows are weighted with (loss - b2)^2
    target = 1 / above
    flat, cross, steep = weight.sum(1), (weight * k).sum(1), (weight * k * k).sum(1)
    level, rise = (weight * target).sum(1), (weight * k * target).sum(1)
    determinant = flat * steep - cross**2
    regular = determinant > 1e-14 * flat * steep
    below = np.where(regular, determinant, 1.0)
    b0 = np.where(regular, (flat * rise - cross * level) / below, 0.0)
    b1 = np.where(regular, (steep * level - cross * rise) / below, level / flat)
    # With two unknowns and targets above 0, at most one of them is held at 0.
    return (
        np.where(b0 < 0, 0.0, np.where(b1 < 0, rise / np.maximum(steep, 1e-300), b0)),
        np.where(b0 < 0, level / flat, np.maximum(b1, 0.0)),
    )
