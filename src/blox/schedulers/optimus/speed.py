"""Speed: steps per second of a job with `servers` parameter servers and `workers`, from a few measurements.

The paper's two forms (section 3.2), all coefficients >= 0:

    asynchronous  f = workers / (t0 + t1 workers/servers + t2 workers + t3 servers)
    synchronous   f = 1 / (t0 batch/workers + t1 + t2 workers/servers + t3 workers + t4 servers)

and, where there are no servers, the time of a step by replicas:  t0/replicas + t1 [replicas > 1] + t2
(replicas - 1). Seconds per step are linear in the coefficients: fitting is non-negative least squares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.errors import BloxError
from blox.extras import from_extra
from blox.workloads.table import Array


@dataclass(frozen=True)
class Asynchronous:
    """Workers proceed on their own; a step is one worker's."""

    theta: tuple[float, ...]

    def step_s(self, servers: Array | float, workers: Array | float) -> Array:
        """Seconds per step of the job."""
        return np.asarray(self.terms(servers, workers) @ np.asarray(self.theta) / np.asarray(workers))

    @staticmethod
    def terms(servers: Array | float, workers: Array | float) -> Array:
        p, w = np.broadcast_arrays(np.asarray(servers, dtype=np.float64), np.asarray(workers))
        return np.stack([np.ones_like(p), w / p, w, p], axis=-1)


@dataclass(frozen=True)
class Synchronous:
    """Workers share a batch of `batch` examples, and all wait for the last."""

    theta: tuple[float, ...]
    batch: float

    def step_s(self, servers: Array | float, workers: Array | float) -> Array:
        """Seconds per step of the job."""
        return np.asarray(self.terms(servers, workers, self.batch) @ np.asarray(self.theta))

    @staticmethod
    def terms(servers: Array | float, workers: Array | float, batch: float) -> Array:
        p, w = np.broadcast_arrays(np.asarray(servers, dtype=np.float64), np.asarray(workers))
        return np.stack([batch / w, np.ones_like(p), w / p, w, p], axis=-1)


@dataclass(frozen=True)
class Replicas:
    """All-reduce among replicas: no servers."""

    theta: tuple[float, ...]

    def step_s(self, replicas: Array | float) -> Array:
        """Seconds per step of the job."""
        return np.asarray(self.terms(replicas) @ np.asarray(self.theta))

    @staticmethod
    def terms(replicas: Array | float) -> Array:
        k = np.asarray(replicas, dtype=np.float64)
        return np.stack([1 / k, (k > 1).astype(np.float64), k - 1], axis=-1)


def fit_asynchronous(servers: Array, workers: Array, steps_per_s: Array) -> Asynchronous:
    """Fitted to measured speeds; workers / speed is what is linear."""
    measured = _measured(steps_per_s)
    return Asynchronous(_fit(Asynchronous.terms(servers, workers), np.asarray(workers) / measured))


def fit_synchronous(servers: Array, workers: Array, steps_per_s: Array, batch: float) -> Synchronous:
    """Fitted to measured speeds; 1 / speed is what is linear."""
    return Synchronous(_fit(Synchronous.terms(servers, workers, batch), 1 / _measured(steps_per_s)), batch)


def fit_replicas(replicas: Array, steps_per_s: Array) -> Replicas:
    """Fitted to measured speeds."""
    return Replicas(_fit(Replicas.terms(replicas), 1 / _measured(steps_per_s)))


def _measured(steps_per_s: Array) -> Array:
    speeds = np.asarray(steps_per_s, dtype=np.float64)
    if not len(speeds) or not (speeds > 0).all():
        raise BloxError("a speed model needs measured speeds, all above 0", where="Optimus")
    return speeds


def _fit(terms: Array, seconds: Array) -> tuple[float, ...]:
    """Non-negative least squares."""
    optimize = from_extra("scipy.optimize", "elastic", "fitting a speed model")
    found, _ = optimize.nnls(terms, np.asarray(seconds))
    return tuple(float(each) for each in found)
