"""Fitting the throughput model of `goodput` to observed step times.

The error is the Pollux artifact's: root mean square errors of log pass times and of log step times, plus weak
priors (little overlap, network time that hardly grows with replicas). The artifact descends once with L-BFGS
from a fixed point. Here Newton steps start from several points at once: for a given overlap the model is
linear, which gives good starting points, and both errors are roots of sums of squares, so that curvature
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
_OVERLAPS = np.array([1.0, 1.5, 3.0, 10.0, 1.1])  # starting points
_HALVED = 4  # of which this one takes half of a pass to be constant: narrow batches do not tell
_KEPT = {2: 4, 7: 2}  # after so many steps: the best so many of these
_STEPS = 12
_CLOSE = (1e-3, 1e-6)  # a row is left alone when its step promises less, as a part of its error or in all
_LEAP = 3.0  # the farthest that a step may go in a log parameter
_LEAST_ROOT = 1e-9  # where a fit is exact its root is a kink: it is taken for no less than this
# Three steps are tried side by side. A root bends less than its square by a product of slopes; where the fit
# becomes exact that product misleads, elsewhere it makes the step Newton's. The third is for rough ground.
_BENT = np.array([0.3, 0.95, 0.0])[:, None, None, None]
_DAMPED = np.array([1.0, 1.0, 30.0])[:, None, None]
_EASED, _DOUBTED, _FAILED = (
    0.2,
    8.0,
    60.0,
)  # what becomes of the damping: after the first two, the third, none
# How the growth prior goes with the logarithms of alpha_n, beta_n, alpha_r and beta_r: rows 0 to 6 are its
# curvature and row 7 its slope, per network, for a prior of one.
_AWAY = np.zeros((2, 8))
_AWAY[0, 2:4] = _AWAY[1, 4:6] = (-1.0, 1.0)
_OF_GROWTH = 4 * _AWAY[:, :, None] * _AWAY[:, None]
_OF_GROWTH[:, 7] = 2 * _AWAY


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
    surface = _Surface(observed)
    low, high = _bounds(observed, surface)
    best = _descend(_starts(observed, surface), low, high, surface)
    model = ThroughputModel(*map(float, np.append(np.exp(best[:6]), best[6])))
    if not surface.spread.any():
        alpha_n = max(float(model.alpha_n), DEARER * float(model.alpha_r))
        model = replace(model, alpha_n=alpha_n, beta_n=max(float(model.beta_n), DEARER * float(model.beta_r)))
    return model


def fit_error(model: ThroughputModel, observed: Observations) -> float:
    """What `fit` minimises: errors of log times and priors, without unit."""
    return float(_Surface(observed).at(_to_log(model.array()[np.newaxis])).error[0])


def _to_log(rows: Array) -> Array:
    """Parameters as they are fitted: in logarithms, but for gamma."""
    return np.concatenate([np.log(rows[..., :6]), rows[..., 6:]], axis=-1)


class _Points:
    """Where some rows stand, in one table, so that rows are taken over at once.

    `x` are logarithms of the parameters, and gamma itself. Of the residuals of log pass times and of log step
    times, `products` are those of all derivatives (0 to 6) and of the residuals themselves (7) with each
    other, averaged; `roots` are the root mean squares, `growth` the priors of both networks.
    """

    def __init__(self, table: Array) -> None:
        self.all = table
        self.x, self.error = table[:, :7], table[:, 139]
        self.products = table[:, 7:135].reshape(len(table), 2, 8, 8)
        self.roots, self.growth = table[:, 135:137], table[:, 137:139]

    def slopes(self) -> tuple[Array, Array, Array]:
        """Of the error: slope (rows x 7), curvature (rows x 7 x 7), and by what roots bend less than that."""
        weight = 1 / np.maximum(self.roots, _LEAST_ROOT)
        weighted = self.products * weight[..., None, None]
        both = weighted.sum(axis=1)
        both += (self.growth @ _OF_GROWTH.reshape(2, 64)).reshape(both.shape)
        both[:, 6, 6] += 2 * OVERLAP_PRIOR
        both[:, 7, 6] += 2 * OVERLAP_PRIOR * (self.x[:, 6] - 1)
        pulls = weighted[:, :, 7, :7] * np.sqrt(weight)[..., None]
        return both[:, 7, :7], both[:, :7, :7], pulls.swapaxes(1, 2) @ pulls


class _Surface:
    """The error over the parameters: evaluates many rows at once."""

    def __init__(self, observed: Observations) -> None:
        self.beyond = np.maximum(observed.replicas - 2, NONE_S)
        self.spread = observed.nodes > 1
        self.near = ~self.spread & (observed.replicas > 1)
        self.scale = len(self.beyond) ** -0.5
        self.passing = np.stack([np.ones_like(self.beyond), observed.atomic])
        self.network = np.stack([self.spread, self.spread * self.beyond, self.near, self.near * self.beyond])
        self.alone = np.where(self.spread | self.near, 0.0, NONE_S * (1 + self.beyond))
        self.log_times = self.scale * np.log(np.stack([observed.pass_s, observed.step_s]))

    def at(self, x: Array) -> _Points:
        rows, gamma = np.exp(x[:, :6]), x[:, 6:]
        passing = rows[:, :2] @ self.passing
        network = rows[:, 2:] @ self.network
        network += self.alone
        # log step = log pass + (1/gamma) log(1 + (network / pass)^gamma)
        log_pass = np.log(passing)
        apart = np.log(network) - log_pass
        ratio = gamma * apart
        log_both = np.logaddexp(0.0, ratio)
        of_network = np.exp(ratio - log_both)
        log_both /= gamma
        # derivatives along the parameters, and residuals below them: rows x kinds x 8 x observations
        known = np.zeros((len(x), 2, 8, passing.shape[1]))
        of_pass, of_step = known[:, 0], known[:, 1]
        np.divide(rows[:, :2, None] * self.passing, passing[:, None], out=of_pass[:, :2])
        np.multiply(of_pass[:, :2], (1 - of_network)[:, None], out=of_step[:, :2])
        np.multiply(rows[:, 2:, None] * self.network, (of_network / network)[:, None], out=of_step[:, 2:6])
        np.divide(of_network * apart - log_both, gamma, out=of_step[:, 6])
        of_pass[:, 7] = log_pass
        np.add(log_pass, log_both, out=of_step[:, 7])
        known *= self.scale
        known[:, :, 7] -= self.log_times
        points = _Points(np.empty((len(x), 140)))
        points.x[:] = x
        np.matmul(known, known.swapaxes(2, 3), out=points.products)
        np.sqrt(points.products[:, :, 7, 7], out=points.roots)
        np.multiply(GROWTH_PRIOR, (rows[:, 3:6:2] / rows[:, 2:5:2]) ** 2, out=points.growth)
        np.add(points.all[:, 135:139].sum(axis=1), OVERLAP_PRIOR * (x[:, 6] - 1) ** 2, out=points.error)
        return points


def _bounds(observed: Observations, surface: _Surface) -> tuple[Array, Array]:
    """Lower and upper bound of each parameter as it is fitted; equal where it is not."""
    least, most = float(np.log(NONE_S)), float(np.log(_MOST_S))
    low = np.array([least] * 6 + [GAMMA[0]])
    high = np.array([most] * 6 + [GAMMA[1]])
    if (observed.atomic == observed.atomic[0]).all():
        low[0] = high[0] = np.log(observed.pass_s.mean() / 2)
    if not surface.spread.any():
        high[2:4] = least
    if not surface.near.any():
        high[4:6] = least
    if not (observed.replicas > 2).any():
        high[3:6:2] = least
    return low, high


def _starts(observed: Observations, surface: _Surface) -> Array:
    """A starting point per overlap, as parameters are fitted: what linear least squares give for it."""
    rows = np.empty((len(_OVERLAPS), 7))
    rows[:, 6] = _OVERLAPS
    gamma = _OVERLAPS[:, None]
    mean = observed.pass_s.mean()
    half = mean / 2, mean / 2 / observed.atomic.mean()
    one_batch = (observed.atomic == observed.atomic[0]).all()
    constant, slope = half if one_batch else _line(observed.atomic, observed.pass_s, 1.0)
    # No parameter starts at nothing: there the error is flat in its logarithm.
    rows[:, 0] = constant = max(constant, 0.05 * mean)
    rows[:, 1] = slope = max(slope, 1e-3 * (observed.pass_s / observed.atomic).mean())
    passing = np.minimum(constant + slope * observed.atomic, observed.step_s)
    network = (observed.step_s**gamma - passing**gamma) ** (1 / gamma)
    seen = surface.network[::2, None]  # networks x 1 x observations
    level, growth = _line(surface.beyond, network, seen)
    average = (seen * np.maximum(network / 2, 0.03 * observed.step_s)).sum(axis=-1)
    average /= np.maximum(seen.sum(axis=-1), 1)
    alpha = np.maximum(np.maximum(level, growth), average).T
    rows[:, 2:5:2], rows[:, 3:6:2] = alpha, np.maximum(growth.T, 1e-2 * alpha)
    rows[_HALVED, :2] = half
    np.log(np.maximum(rows[:, :6], NONE_S), out=rows[:, :6])
    return rows


def _line(x: Array, y: Array, seen: Array | float) -> tuple[Array, Array]:
    """(constant, slope) >= 0 of lines through the points `seen`, errors relative to y; 0 where none is."""
    weight = seen / np.maximum(y, 1e-3 * y.max(axis=-1, keepdims=True) + NONE_S) ** 2
    flat, cross, steep = weight.sum(-1), (weight * x).sum(-1), (weight * x * x).sum(-1)
    level, rise = (weight * y).sum(-1), (weight * x * y).sum(-1)
    determinant = flat * steep - cross**2
    regular = determinant > 1e-12 * flat * steep
    below = np.where(regular, determinant, 1.0)
    mean = level / np.maximum(flat, 1e-300)
    constant = np.where(regular, (steep * level - cross * rise) / below, mean)
    slope = np.where(regular, (flat * rise - cross * level) / below, 0.0)
    return (
        np.where(slope < 0, mean, np.maximum(constant, 0.0)),
        np.where(constant < 0, rise / np.maximum(steep, 1e-300), np.maximum(slope, 0.0)),
    )


def _descend(x: Array, low: Array, high: Array, surface: _Surface) -> Array:
    """The best row after Newton steps from every row, kept within bounds by projection."""
    free = high > low
    here = surface.at(np.minimum(np.maximum(x, low), high))
    damping = np.full((len(x), 1), 1e-3)
    for count in range(_STEPS):
        if count in _KEPT:
            kept = np.argsort(here.error, kind="stable")[: _KEPT[count]]
            here, damping = _Points(here.all[kept]), damping[kept]
        slope, curvature, bend = here.slopes()
        rows = len(slope)
        moving = free & np.where(slope > 0, here.x > low, here.x < high)
        slope = slope * moving
        tried = curvature - _BENT * bend
        tried *= moving[:, :, None] & moving[:, None]
        diagonal = tried.reshape(3, rows, 49)[:, :, ::8]
        diagonal += _DAMPED * damping * (diagonal + 1e-6) + ~moving
        step = np.linalg.solve(tried, np.broadcast_to(slope[..., None], (3, rows, 7, 1)))[..., 0]
        promised = (slope * step[1]).sum(axis=1)
        if (
            (promised < _CLOSE[0] * here.error + _CLOSE[1]) | (here.error - promised > here.error.min())
        ).all():
            break
        aim = here.x - np.minimum(np.maximum(step, -_LEAP), _LEAP)
        there = surface.at(np.minimum(np.maximum(aim, low), high).reshape(3 * rows, 7))
        which = there.error.reshape(3, rows).argmin(axis=0)
        chosen = there.all[which * rows + np.arange(rows)]
        better = chosen[:, 139] < here.error
        here.all[better] = chosen[better]
        factor = np.where(better, np.where(which == 2, _DOUBTED, _EASED), _FAILED)
        damping = np.maximum(damping * factor[:, None], 1e-8)
    return np.asarray(here.x[np.argmin(here.error)])
