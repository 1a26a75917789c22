"""Stints: every uninterrupted time of a job on GPUs, noted as it starts and as it ends."""

from __future__ import annotations

from struct import Struct

import numpy as np

from blox.state.plan import Allocation
from blox.workloads.table import Array

_TIME = Struct("d")
_INT64 = np.dtype(np.int64)

Runs = tuple[Array, Array, Array, Array]  # of each stint: the job, its start and end, and how many GPUs


class Stints:
    """Notes are bytes, since they come one or two at a time, and are read as arrays once.

    A stint is numbered when it starts; an end names the number of the stint that its job has open."""

    def __init__(self) -> None:
        self._started, self._started_s = bytearray(), bytearray()  # rows, times
        self._counts, self._gpus = bytearray(), bytearray()  # GPUs of each, GPU ids
        self._ended, self._ended_s = bytearray(), bytearray()  # numbers of stints, times
        self._size = 0  # stints so far
        self._open: Array = np.empty(0, dtype=np.int64)  # by row: the last stint that the job has started

    def start(self, part: Allocation, now: float, row_bound: int) -> None:
        """Jobs, whose rows are below `row_bound`, start on GPUs."""
        rows, first, count = part.jobs, self._size, len(part.jobs)
        if row_bound > len(self._open):
            self._open = np.concatenate((self._open, np.empty(row_bound, dtype=np.int64)))
        if count == 1:
            self._open[rows.item()] = first
        else:
            self._open[rows] = np.arange(first, first + count)
        self._size = first + count
        self._started += raw(rows)
        self._started_s += _TIME.pack(now) * count
        self._counts += raw(part.counts)
        self._gpus += raw(part.gpus)

    def end(self, rows: Array, at: Array | float) -> None:
        """Jobs leave their GPUs, all at one time or each at its own."""
        self._ended += self._open[rows].tobytes()
        self._ended_s += at.tobytes() if isinstance(at, np.ndarray) else _TIME.pack(at) * len(rows)

    def table(self, end_s: float) -> dict[str, Array]:
        """One row per stint and GPU; unfinished ones end with the run, at `end_s`."""
        job, start, end, counts = self._runs(end_s)
        return {
            "job": np.repeat(job, counts),
            "gpu": numbers(self._gpus),
            "start_s": np.repeat(start, counts),
            "end_s": np.repeat(end, counts),
        }

    def gpu_seconds(self, begin_s: float, until_s: float, *, end_s: float, shared: bool) -> float:
        """GPU-seconds held between two times; where jobs share GPUs, each GPU counts once."""
        if shared:
            return self._shared_gpu_s(begin_s, until_s, end_s)
        _, start, end, counts = self._runs(end_s)
        inside = np.minimum(end, until_s) - np.maximum(start, begin_s)
        return float((counts * np.maximum(inside, 0.0)).sum())

    def _runs(self, end_s: float) -> Runs:
        end = np.full(self._size, end_s)
        end[numbers(self._ended)] = np.frombuffer(self._ended_s)
        return numbers(self._started), np.frombuffer(self._started_s), end, numbers(self._counts)

    def _shared_gpu_s(self, begin_s: float, until_s: float, end_s: float) -> float:
        """GPU-seconds between two times in which a GPU was held, by one job or by two that share it."""
        stints = self.table(end_s)
        order = np.lexsort((stints["start_s"], stints["gpu"]))
        gpu, start, end = (stints[name][order] for name in ("gpu", "start_s", "end_s"))
        busy, last, until = 0.0, -1, 0.0
        for on, begin, stop in zip(gpu.tolist(), start.tolist(), end.tolist()):
            begin, stop = max(begin, begin_s), min(stop, until_s)
            if on != last:
                last, until = on, begin
            busy += max(0.0, stop - max(begin, until))
            until = max(until, stop)
        return busy


def raw(rows: Array) -> bytes:
    """Whole numbers as bytes, to be appended to a bytearray."""
    return rows.tobytes() if rows.dtype is _INT64 else rows.astype(_INT64).tobytes()


def numbers(notes: bytearray) -> Array:
    """What was appended as `raw` bytes."""
    return np.frombuffer(notes, dtype=_INT64)
