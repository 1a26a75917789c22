"""Stints by GPU and lane: in a lane no two overlap, so that a binary search finds what holds a GPU at a time.

A GPU that jobs never share has one lane; where two jobs were on it at once, it has a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from blox.workloads.table import Array


@dataclass(frozen=True, eq=False)
class Lanes:
    """Stints sorted by (GPU, lane, start). Lane k is `first[k]` to `first[k + 1]`, of GPU `gpu[k]`."""

    first: Array
    gpu: Array
    job: Array
    start_s: Array
    end_s: Array


def lanes_of(stints: Mapping[str, Array]) -> Lanes:
    """Lays the stints of a run out; those of no length are left out, for no moment shows them."""
    seen = stints["end_s"] > stints["start_s"]
    job, gpu, start, end = (stints[name][seen] for name in ("job", "gpu", "start_s", "end_s"))
    lane = _lane(gpu, start, end)
    order = np.lexsort((start, lane, gpu))
    job, gpu, start, end, lane = (column[order] for column in (job, gpu, start, end, lane))
    fresh = np.ones(len(gpu), dtype=bool)
    fresh[1:] = (np.diff(gpu) != 0) | (np.diff(lane) != 0)
    heads = np.flatnonzero(fresh)
    return Lanes(np.append(heads, len(gpu)), gpu[heads], job, start, end)


def _lane(gpu: Array, start: Array, end: Array) -> Array:
    """The lane of each stint: the lowest that is free when it begins."""
    lane = np.zeros(len(gpu), dtype=np.int64)
    order = np.lexsort((end, start, gpu))
    same_gpu = np.diff(gpu[order]) == 0
    if not (same_gpu & (start[order][1:] < end[order][:-1])).any():
        return lane  # no GPU is shared
    busy_until: list[float] = []
    last = -1
    for at in order.tolist():
        if gpu[at] != last:
            last, busy_until = gpu[at], []
        free = next((k for k, until in enumerate(busy_until) if until <= start[at]), len(busy_until))
        busy_until[free : free + 1] = [end[at]]
        lane[at] = free
    return lane
