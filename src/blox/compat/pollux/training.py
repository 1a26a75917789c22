"""One job as the artifact simulates it: it trains epoch by epoch, tunes its batch size, fits its own model.

All of it is in whole seconds but progress, which is counted in iterations at the initial batch size.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from blox.performance.goodput import GradientNoise, ThroughputModel
from blox.performance.goodput_batch import BatchLimits, best_batch, capped
from blox.performance.goodput_fit import Observations, fit
from blox.profiles.pollux_application import PolluxApplication
from blox.workloads.table import Array

RESTART_S = 30  # in which a job holds its GPUs and does nothing, after every change of its nodes
_EDGE = 1e-8


class Application:
    """An application's measurements, each looked up once. They never change: a copy is the same object."""

    def __init__(self, folder: Path) -> None:
        self.measured = PolluxApplication(folder)
        self.name, self.epochs = self.measured.name, self.measured.epochs
        self.initial, self.largest = self.measured.initial_batch, self.measured.largest_batch
        self.low, self.high = self.measured.atomic_range
        self.progress = [self.measured.progress(epoch) for epoch in range(self.epochs + 1)]
        self._times: dict[tuple[tuple[int, ...], int], tuple[float, float]] = {}
        self._gradients: dict[tuple[int, int], tuple[float, float]] = {}

    def __deepcopy__(self, memo: dict[int, object]) -> Application:
        return self

    def times(self, placement: tuple[int, ...], atomic: int) -> tuple[float, float]:
        """Seconds of a step, and of its synchronisation."""
        found = self._times.get((placement, atomic))
        if found is None:
            found = self._times[placement, atomic] = self.measured.times(np.array(placement), atomic)
        return found

    def gradient(self, batch: int, epoch: int) -> tuple[float, float]:
        """Squared norm and variance of the gradient."""
        found = self._gradients.get((batch, epoch))
        if found is None:
            found = self._gradients[batch, epoch] = self.measured.gradient(batch, epoch)
        return found


class Training:
    """A job in training; `target` is its fixed total batch size, None where it chooses one itself.

    `learns`: it fits a throughput model to what it sees (schedulers that do not look at it can do without).
    """

    def __init__(self, application: Application, target: int | None, learns: bool) -> None:
        self.application, self.target, self.learns = application, target, learns
        self.limits = BatchLimits(application.initial, application.largest, application.low, application.high)
        self.placement: tuple[int, ...] = ()  # replicas per node, in the order in which nodes were taken
        self.atomic = self.accumulation = 0
        self.progress, self.epoch = 0.0, 0
        self.wait_s = 0.0  # of a restart, still to come
        self.seen: dict[tuple[int, int, int], tuple[float, float]] = {}
        self.model: ThroughputModel | None = None
        self.noise: GradientNoise | None = None
        self.largest_seen = 0
        self._tuned_for: tuple[object, ...] = ()
        self._step_s: Array | None = None

    def reallocate(self, placement: tuple[int, ...]) -> None:
        """The job gets other nodes, or none."""
        self.placement = placement
        if placement:
            self.tune()
            self.wait_s = RESTART_S

    def advance(self, seconds: float, slowdown: float) -> float | None:
        """Trains for so long; answers with the seconds after which it was done, or None if it is not."""
        if not self.placement:
            return None
        application, replicas = self.application, sum(self.placement)
        left = seconds - min(self.wait_s, seconds)
        self.wait_s -= seconds - left
        while left > 0:
            batch = replicas * self.atomic * (self.accumulation + 1)
            step_s, sync_s = application.times(self.placement, self.atomic)
            sqr, var = application.gradient(batch, self.epoch)
            gain = (var + sqr) / (var / (batch / application.initial) + sqr)
            if self.learns:
                self._observe((len(self.placement), replicas, self.atomic), step_s, sync_s, sqr, var)
            rate = gain / (step_s + (step_s - sync_s) * self.accumulation) * (1.0 - slowdown)
            goal = application.progress[self.epoch + 1]
            if self.progress + rate * left < goal:
                self.progress += rate * left
                left = 0.0
            else:
                left -= round((goal - self.progress) / rate)
                self.progress = goal
                self.epoch += 1
                if self.epoch >= application.epochs:
                    return seconds - left
            self.tune()
        return None

    def tune(self) -> None:
        """Sets the batch size: the target, or the smallest before anything is known, or the best."""
        replicas, nodes = sum(self.placement), len(self.placement)
        limits, batch = self.limits, self.target
        if batch is None and self.model is None:
            batch = max(self.application.initial, self.application.low * replicas)
        reason = (replicas, nodes, batch, self.model, self.noise)
        if reason == self._tuned_for:
            return
        self._tuned_for = reason
        if batch is not None:
            self.atomic, self.accumulation = split(self.application, batch, replicas, replicas == 1)
            return
        assert self.model is not None and self.noise is not None
        best = best_batch(self.model, self.noise, limits, nodes, replicas)
        self.accumulation = int(best.accumulation)
        self.atomic = int(capped(int(best.atomic), self.accumulation, replicas, limits))

    def step_times(self, most: int) -> Array:
        """Seconds per step with 1 to `most` replicas, packed four to a node, as Optimus is told."""
        if self._step_s is None or len(self._step_s) < most:
            assert self.target is not None
            found = []
            for replicas in range(1, most + 1):
                full, rest = divmod(replicas, 4)
                packed = (4,) * full + ((rest,) if rest else ())
                atomic, accumulation = split(self.application, self.target, replicas, False)
                if replicas == 1 and accumulation == 0:  # also where the job itself would not accumulate
                    atomic, accumulation = split(self.application, self.target, 1, True, always=True)
                step_s, sync_s = self.application.times(packed, atomic)
                found.append(step_s + (step_s - sync_s) * accumulation)
            self._step_s = np.array(found)
        return self._step_s[:most]

    def iterations_left(self) -> float:
        """As the artifact's Optimus is told: without the rest of this epoch, and 1 in the last."""
        assert self.target is not None
        last, measured = self.application.epochs - 1, self.application.measured
        if self.epoch >= last:
            return 1.0
        return measured.iterations(self.target, last) - measured.iterations(self.target, self.epoch)

    def _observe(
        self, where: tuple[int, int, int], step_s: float, sync_s: float, sqr: float, var: float
    ) -> None:
        if self.noise is None or (self.noise.sqr, self.noise.var) != (sqr, var):
            self.noise = GradientNoise(sqr, var)
        if where in self.seen:
            return
        self.seen[where] = (step_s - sync_s, step_s)
        self.largest_seen = max(self.largest_seen, where[1])
        rows = [(*at, *times) for at, times in self.seen.items()]
        self.model = fit(Observations(*(np.array(column) for column in zip(*rows))))


def split(
    application: Application, batch: int, replicas: int, alone: bool, *, always: bool = False
) -> tuple[int, int]:
    """(atomic batch, accumulation) of a fixed total; a job `alone` accumulates above the initial batch."""
    share = math.ceil(batch / replicas - _EDGE)
    accumulation = math.ceil(share / application.high - _EDGE) - 1
    if alone and (always or batch > application.initial):
        accumulation = max(1, accumulation)
    atomic = math.ceil(share / (accumulation + 1) - _EDGE)
    return min(atomic, application.largest // (replicas * (accumulation + 1))), accumulation
