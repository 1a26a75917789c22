"""The job `train` of a replay: fits a small linear model, iteration by iteration, for so many seconds.

Each rank works on its share of every batch, and gradients are summed over all ranks. Iterations begin at
fixed times: one that was late is followed by shorter pauses, so that a job lasts for as long as its entry
says. It leaves at an iteration boundary, and resumes at the very batch.

    train.py SECONDS
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from blox.client import BloxDataLoader, Reducer

ITERATION_S = 0.05
_SAVE_EVERY = 20  # iterations
_BATCH, _FEATURES, _RATE = 16, 8, 0.02
Array = Any


class Batches:
    """The batches of a job, each drawn from its own seed: the same whenever they are iterated."""

    def __init__(self, count: int, job: int) -> None:
        self._count, self._job = count, job
        self._truth = np.random.default_rng((job, 0)).normal(size=_FEATURES)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        for number in range(self._count):
            inputs = np.random.default_rng((self._job, 1, number)).normal(size=(_BATCH, _FEATURES))
            yield inputs, inputs @ self._truth


class Model:
    """Weights, and what a checkpoint keeps of them."""

    def __init__(self) -> None:
        self.weights = np.zeros(_FEATURES)

    def state_dict(self) -> list[float]:
        return list(self.weights.tolist())

    def load_state_dict(self, state: list[float]) -> None:
        self.weights = np.array(state)


def main() -> None:
    iterations = max(1, round(float(sys.argv[1]) / ITERATION_S))
    model, reducer = Model(), Reducer()
    batches = Batches(iterations, int(os.environ["BLOX_JOB"]))
    loader = BloxDataLoader(batches, {"model": model}, every=_SAVE_EVERY)
    due_s = time.monotonic()
    for inputs, target in loader:
        mine = slice(reducer.rank * _BATCH // reducer.world, (reducer.rank + 1) * _BATCH // reducer.world)
        error = inputs[mine] @ model.weights - target[mine]
        total = reducer.sum(np.append(inputs[mine].T @ error, error @ error))
        model.weights = model.weights - _RATE * total[:-1] / _BATCH
        loader.metrics.push("loss", float(total[-1]) / _BATCH)
        due_s += ITERATION_S
        time.sleep(max(0.0, due_s - time.monotonic()))


if __name__ == "__main__":
    main()
