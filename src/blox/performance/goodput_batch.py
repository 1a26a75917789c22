"""Batch sizes: the one with the best goodput for a placement, and how a given one is split over GPUs.

A batch of a job is `replicas x atomic x (accumulation + 1)` examples: each GPU makes `accumulation` passes
over `atomic` examples without averaging gradients, and one with. Everything broadcasts: the batch sizes of
all jobs of a round, on all placements under consideration, are one array expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from blox.performance.goodput import GradientNoise, Number, ThroughputModel, goodput
from blox.workloads.table import Array

CANDIDATES = 50  # total batch sizes that are tried, as in the Pollux artifact
_EDGE = 1e-8  # a quotient this far above a whole number counts as that number


@dataclass(frozen=True)
class BatchLimits:
    """What a job allows: its initial and largest total batch, and the range of a GPU's share of a pass.

    Gradient noise is measured at the initial batch, which is also the smallest unless `smallest` is larger.
    """

    initial: Number
    largest: Number
    smallest_atomic: Number
    largest_atomic: Number
    accumulation: Array | bool = True
    smallest: Number = 0


class Batch(NamedTuple):
    """A choice per job and placement; `goodput` is 0 where no batch size is allowed."""

    goodput: Array
    atomic: Array
    accumulation: Array


def best_batch(
    model: ThroughputModel,
    noise: GradientNoise,
    limits: BatchLimits,
    nodes: Number,
    replicas: Number,
    *,
    clip: bool = False,
) -> Batch:
    """The batch size with the largest goodput on `replicas` GPUs of `nodes` nodes.

    Tries 50 total batch sizes in geometric steps from the smallest allowed to the largest; the first of
    equals wins. A single GPU accumulates at least once above the initial batch size, since gradient noise
    cannot be measured from one pass. `clip` makes what AdaptDL does in production of the artifact's rule: an
    atomic batch out of range is moved into it (otherwise that candidate is dropped), and a single GPU that
    may not accumulate keeps the initial batch. No replicas: goodput 0.

    As in the artifact, rounding a GPU's share up may take the total beyond the largest allowed, and more
    replicas than the largest batch has smallest shares for do. `capped` lowers what is to be run.
    """
    count = np.asarray(replicas, dtype=np.float64)
    held = np.maximum(count, 1.0)
    # as floating-point numbers from here on: mixed arithmetic costs conversions
    initial, largest, low, high = (
        np.asarray(each, dtype=np.float64)
        for each in (limits.initial, limits.largest, limits.smallest_atomic, limits.largest_atomic)
    )
    start = np.maximum(np.maximum(initial, limits.smallest), low * held)
    step = np.log(largest / start) / (CANDIDATES - 1)
    axes = max(_dimensions(model, noise, limits), start.ndim, step.ndim, np.ndim(nodes))
    share = start * np.exp(step * np.arange(CANDIDATES).reshape(-1, *[1] * axes)) / held
    alone = count == 1
    passes = np.maximum(np.ceil(share / high - _EDGE), 1.0)
    passes = np.where(alone & (share > initial), np.maximum(passes, 2.0), passes)
    passes = np.where(limits.accumulation, passes, 1.0)
    atomic = np.ceil(share / passes - _EDGE)
    if clip:
        atomic = np.where(alone & ~np.asarray(limits.accumulation), initial, atomic)
        atomic = np.minimum(np.maximum(atomic, low), high)
    found = goodput(model, noise, initial, nodes, held, atomic, passes - 1)
    found = np.where((atomic >= low) & (atomic <= high) & (count > 0), found, 0.0)
    best = np.argmax(found, axis=0)[np.newaxis]

    def chosen(values: Array) -> Array:
        return np.asarray(np.take_along_axis(np.broadcast_to(values, found.shape), best, axis=0)[0])

    return Batch(chosen(found), chosen(atomic).astype(np.int64), chosen(passes).astype(np.int64) - 1)


def split_batch(batch: Number, replicas: Number, limits: BatchLimits) -> tuple[Array, Array]:
    """(atomic batch, accumulation) of a job that keeps the total size `batch` on `replicas` GPUs.

    A single GPU above the initial batch size accumulates at least once. Rounding up may not take the total
    beyond the largest allowed. This is how the artifact runs jobs of schedulers that leave batch sizes alone.
    """
    share = np.ceil(np.asarray(batch) / replicas)
    passes = np.ceil(share / limits.largest_atomic)
    alone = (np.asarray(replicas) == 1) & (np.asarray(batch) > limits.initial)
    passes = np.where(alone, np.maximum(passes, 2), passes)
    return capped(np.ceil(share / passes), passes - 1, replicas, limits), (passes - 1).astype(np.int64)


def capped(atomic: Number, accumulation: Number, replicas: Number, limits: BatchLimits) -> Array:
    """The atomic batch, lowered where the total would exceed the largest allowed."""
    most = np.asarray(limits.largest) // (replicas * (np.asarray(accumulation) + 1))
    return np.minimum(atomic, most).astype(np.int64)


def _dimensions(*parts: ThroughputModel | GradientNoise | BatchLimits) -> int:
    """The number of axes that a job's parameters have."""
    return max(np.ndim(value) for part in parts for value in vars(part).values())
