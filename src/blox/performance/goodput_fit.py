"""Fitting the throughput model of `goodput` to observed step times.

The error is the Pollux artifact's: root mean square errors of log pass times and of log step times, plus weak
priors (little overlap, network time that hardly grows with replicas). The artifact descends once with L-BFGS
from a fixed point. Here damped Newton steps start from several points at once: for a given overlap the model
is linear, which gives good starting points, and both errors are roots of sums of squares, so that curvature
follows from first derivatives. Parameters span eight decades and are fitted in logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from blox.errors import BloxError
from blox.performance.goodput import NONE_S, ThroughputModel
from blox.workloads.table import Array

OVERLAP_PRIOR = 1e-3  # weight of (gamma - 1)^2
GROWTH_PRIOR = 1e-2  # weight of (beta / alpha)^2 of either network
GAMMA = (1.0, 10.0)
DEARER = 1.1  # a network between nodes that was never seen costs at least this x the one inside a node

_MOST_S = 1e6
_OVERLAPS = np.array([1.0, 1.05, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0])  # starting points
_STEPS = 30
_CLOSE = 1e-2  # a row is left alone when its next step promises a smaller part of its error than this
_LEAP = 3.0  # the farthest that a step may go in a log parameter
_SMOOTH = (0.1, 1e-9)  # roots are rounded off this close to zero, first and last: exact fits are kinks
_ALPHAS, _BETAS = slice(2, 5, 2), slice(3, 6, 2)  # of the two networks, among the parameters
# How (beta / alpha)^2 goes with the logarithms of alpha_n, beta_n, alpha_r, beta_r. An exponential bends
# twice as much as its slope tells: hence the 2 here, and the halves below that make up for it.
_OF_GROWTH = 2 * np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]])


@dataclass(frozen=True)
class Observations:
    """Measured times, a row per configuration (nodes, replicas, atomic batch): s of a pass, of a step."""

    nodes: Array
    replicas: Array
    atomic: Array
    pass_s: Array
    step_s: Array

    def __post_init__(self) -> None:
        for name, column in vars(self).items():
            object.__setattr__(self, name, np.asarray(column, dtype=np.float64))
        if len({len(column) for column in vars(self).values()}) != 1 or not len(self.nodes):
            raise BloxError("observations need equally many rows, and one at least", where="goodput fit")
        if not min(self.pass_s.min(), self.step_s.min()) > 0:
            raise BloxError("an observed time is not above 0", where="goodput fit", fix="leave that row out")


def fit(observed: Observations) -> ThroughputModel:
    """The model with the least `fit_error` found; what nothing was observed about stays at its prior.

    One atomic batch only: half of the pass time is taken to be constant. A network that was not observed
    costs nothing, but one between nodes at least `DEARER` x the one inside a node; networks do not grow
    where no more than two replicas were seen.
    """
    low, high = _bounds(observed)
    starts = np.clip(_starts(observed), low, high)
    best = _descend(_to_log(starts), _to_log(low), _to_log(high), _Surface(observed))
    model = ThroughputModel(*map(float, np.append(np.exp(best[:6]), best[6])))
    if not (observed.nodes > 1).any():
        alpha_n = max(float(model.alpha_n), DEARER * float(model.alpha_r))
        model = replace(model, alpha_n=alpha_n, beta_n=max(float(model.beta_n), DEARER * float(model.beta_r)))
    return model


def fit_error(model: ThroughputModel, observed: Observations) -> float:
    """What `fit` minimises: errors of log times and priors, without unit."""
    return float(_Surface(observed).at(_to_log(model.array()[np.newaxis])).error(0.0)[0])


def _to_log(rows: Array) -> Array:
    """Parameters as they are fitted: in logarithms, but for gamma."""
    return np.concatenate([np.log(rows[..., :6]), rows[..., 6:]], axis=-1)


def _bounds(observed: Observations) -> tuple[Array, Array]:
    """Lower and upper bound of each parameter; equal where it is not fitted."""
    low = np.array([NONE_S] * 6 + [GAMMA[0]])
    high = np.array([_MOST_S] * 6 + [GAMMA[1]])
    if (observed.atomic == observed.atomic[0]).all():
        low[0] = high[0] = observed.pass_s.mean() / 2
    spread = observed.nodes > 1
    if not spread.any():
        high[2:4] = NONE_S
    if not (~spread & (observed.replicas > 1)).any():
        high[4:6] = NONE_S
    if not (observed.replicas > 2).any():
        high[_BETAS] = NONE_S
    return low, high


def _starts(observed: Observations) -> Array:
    """A starting point per overlap: what linear least squares give for it."""
    rows = np.empty((len(_OVERLAPS), 7))
    rows[:, 6] = _OVERLAPS
    gamma = _OVERLAPS[:, None]
    constant, slope = _line(observed.atomic, observed.pass_s)
    if (observed.atomic == observed.atomic[0]).all():
        constant = observed.pass_s.mean() / 2
        slope = constant / observed.atomic[0]
    # No parameter starts at nothing: there the error is flat in its logarithm.
    rows[:, 0] = np.maximum(constant, 0.05 * observed.pass_s.mean())
    rows[:, 1] = np.maximum(slope, 1e-3 * (observed.pass_s / observed.atomic).mean())
    passing = np.minimum(rows[0, 0] + rows[0, 1] * observed.atomic, observed.step_s)
    network = (observed.step_s**gamma - passing**gamma) ** (1 / gamma)
    spread = observed.nodes > 1
    for first, seen in ((2, spread), (4, ~spread & (observed.replicas > 1))):
        if not seen.any():
            rows[:, first : first + 2] = NONE_S
            continue
        constant, slope = _line(np.maximum(observed.replicas[seen] - 2, NONE_S), network[:, seen])
        alpha = np.maximum(np.maximum(constant, slope), network[:, seen].mean(axis=1) / 2)
        rows[:, first], rows[:, first + 1] = alpha, np.maximum(slope, 1e-2 * alpha)
    return rows


def _line(x: Array, y: Array) -> tuple[Array, Array]:
    """(constant, slope) >= 0 of the lines through rows of points, errors counted relative to y."""
    weight = 1 / np.maximum(y, 1e-3 * y.max(axis=-1, keepdims=True) + NONE_S) ** 2
    flat, cross, steep = weight.sum(-1), (weight * x).sum(-1), (weight * x * x).sum(-1)
    level, rise = (weight * y).sum(-1), (weight * x * y).sum(-1)
    determinant = flat * steep - cross**2
    regular = determinant > 1e-12 * flat * steep
    below = np.where(regular, determinant, 1.0)
    constant = np.where(regular, (steep * level - cross * rise) / below, level / flat)
    slope = np.where(regular, (flat * rise - cross * level) / below, 0.0)
    return (
        np.where(slope < 0, level / flat, np.maximum(constant, 0.0)),
        np.where(constant < 0, rise / steep, np.maximum(slope, 0.0)),
    )


class _Points:
    """Where some rows stand: what does not depend on how far roots are smoothed.

    Three kinds of residuals: log pass times, log step times, and priors. Of each kind, the products of all
    derivatives (0 to 6) and of the residuals themselves (7) with each other, averaged or (priors) added up.
    """

    def __init__(self, rows: int) -> None:
        self.all = np.empty((rows, 7 + 3 * 64))  # one table, so that rows are taken over at once
        self.x = self.all[:, :7]  # logarithms of the parameters, and gamma itself
        self.products = self.all[:, 7:].reshape(rows, 3, 8, 8)

    def error(self, smooth: Array | float) -> Array:
        """The error per row: two roots, rounded off within `smooth` (rows x 1) of zero, and the priors."""
        squares = self.products[:, :, 7, 7]
        return np.asarray(np.sqrt(squares[:, :2] + smooth * smooth).sum(axis=1) + squares[:, 2])

    def slope_and_curvature(self, smooth: Array) -> tuple[Array, Array]:
        """Of the error: rows x 7, rows x 7 x 7; of the latter the part that is never negative."""
        weight = np.full((len(self.all), 3), 2.0)
        weight[:, :2] = 1 / np.sqrt(self.products[:, :2, 7, 7] + smooth * smooth)
        weighted = (weight[..., None, None] * self.products).sum(axis=1)
        root = self.products[:, :2, 7, :7] * weight[:, :2, None] ** 1.5
        return weighted[:, 7, :7], weighted[:, :7, :7] - root.swapaxes(1, 2) @ root


class _Surface:
    """The error over the parameters: evaluates many rows at once."""

    def __init__(self, observed: Observations) -> None:
        beyond = np.maximum(observed.replicas - 2, NONE_S)
        spread = observed.nodes > 1
        near = ~spread & (observed.replicas > 1)
        self.passing = np.stack([np.ones_like(beyond), observed.atomic])
        self.network = np.stack([spread, spread * beyond, near, near * beyond])
        self.alone = np.where(spread | near, 0.0, NONE_S * (1 + beyond))
        self.log_times = np.log(np.stack([observed.pass_s, observed.step_s]))

    def at(self, x: Array) -> _Points:
        rows, gamma = np.exp(x[:, :6]), x[:, 6:]
        count = self.passing.shape[1]
        passing = rows[:, :2] @ self.passing
        network = rows[:, 2:] @ self.network + self.alone
        # log step = log pass + (1/gamma) log(1 + (network / pass)^gamma)
        log_pass = np.log(passing)
        apart = np.log(network) - log_pass
        ratio = gamma * apart
        log_both = np.logaddexp(0.0, ratio)
        of_network = np.exp(ratio - log_both)
        log_both /= gamma
        # derivatives along the parameters, and residuals below them: rows x kinds x 8 x observations
        known = np.zeros((len(x), 2, 8, count))
        known[:, 0, :2] = rows[:, :2, None] * (self.passing / passing[:, None])
        known[:, 1, :2] = known[:, 0, :2] * (1 - of_network)[:, None]
        known[:, 1, 2:6] = rows[:, 2:, None] * (self.network * (of_network / network)[:, None])
        known[:, 1, 6] = (of_network * apart - log_both) / gamma
        known[:, 0, 7] = log_pass
        known[:, 1, 7] = log_pass + log_both
        known[:, :, 7] -= self.log_times
        points = _Points(len(x))
        points.x[:] = x
        np.matmul(known, known.swapaxes(2, 3) / count, out=points.products[:, :2])
        prior = np.zeros((len(x), 8, 3))
        growth = (GROWTH_PRIOR / 2) ** 0.5 * rows[:, _BETAS] / rows[:, _ALPHAS]
        prior[:, 2:6, :2] = _OF_GROWTH * growth[:, None]
        prior[:, 6, 2] = OVERLAP_PRIOR**0.5
        prior[:, 7, :2] = growth
        prior[:, 7, 2:] = OVERLAP_PRIOR**0.5 * (gamma - 1)
        np.matmul(prior, prior.swapaxes(1, 2), out=points.products[:, 2])
        points.products[:, 2, 7, 7] += (growth * growth).sum(axis=1)
        return points


def _descend(x: Array, low: Array, high: Array, surface: _Surface) -> Array:
    """The best row after damped Newton steps from every row, kept within bounds by projection."""
    free = high > low
    here = surface.at(x)
    damping = np.full((len(x), 1), 1e-3)
    smooth = np.full((len(x), 1), _SMOOTH[0])
    for _ in range(_STEPS):
        slope, curvature = here.slope_and_curvature(smooth)
        moving = free & np.where(slope > 0, here.x > low, here.x < high)
        slope *= moving
        curvature *= moving[:, :, None] & moving[:, None]
        diagonal = curvature.reshape(len(x), 49)[:, ::8]
        diagonal += damping * (diagonal + 1e-6) + ~moving
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        error = here.error(smooth)
        promised = (slope * step).sum(axis=1)
        close = (promised < _CLOSE * error) & (smooth[:, 0] < _CLOSE * error)
        if (close | (error - promised > error.min())).all():
            break
        aim = here.x - np.minimum(np.maximum(step, -_LEAP), _LEAP)
        there = surface.at(np.minimum(np.maximum(aim, low), high))
        gained = error - there.error(smooth)
        better = gained > 0
        here.all[better] = there.all[better]
        damping = np.where(better[:, None], np.maximum(damping / 8, 1e-8), damping * 8)
        # A row that has settled on the smoothed surface goes on to a sharper one.
        settled = np.where(better, gained < 1e-2 * error, damping[:, 0] > 1)
        smooth = np.maximum(smooth * np.where(settled, 0.3, 0.8)[:, None], _SMOOTH[1])
    return np.asarray(here.x[np.argmin(here.error(0.0))])
