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
    """Notes are bytes, since they come one or two at a time, and are read as arrays once."""

    def __init__(self) -> None:
        self._started, self._started_s = bytearray(), bytearray()  # rows, times
        self._counts, self._gpus = bytearray(), bytearray()  # GPUs of each, GPU ids
        self._ended, self._ended_s = bytearray(), bytearray()  # rows, times
        self._paired: tuple[float, Runs] | None = None  # with the end of the run

    def start(self, part: Allocation, now: float) -> None:
        """Jobs start on GPUs."""
        self._started += raw(part.jobs)
        self._started_s += _TIME.pack(now) * len(part.jobs)
        self._counts += raw(part.counts)
        self._gpus += raw(part.gpus)

    def end(self, rows: Array, at: Array | float) -> None:
        """Jobs leave their GPUs, all at one time or each at its own."""
        self._ended += raw(rows)
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
        if self._paired is None or self._paired[0] != end_s:
            self._paired = end_s, self._pair(end_s)
        return self._paired[1]

    def _pair(self, end_s: float) -> Runs:
        """A job's k-th end closes its k-th start: groups both by job and pairs them up.

        Only the last stint of a job may be open."""
        job, start = numbers(self._started), np.frombuffer(self._started_s)
        ended_job, ended = numbers(self._ended), np.frombuffer(self._ended_s)
        starts = np.bincount(job)
        open_jobs = (starts > np.bincount(ended_job, minlength=len(starts))).nonzero()[0]
        closed = np.ones(len(job), dtype=bool)
        closed[starts.cumsum()[open_jobs] - 1] = False
        end = np.full(len(job), end_s)
        end[_grouped(job)[closed]] = ended[_grouped(ended_job)]
        return job, start, end, numbers(self._counts)

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


def _grouped(jobs: Array) -> Array:
    """The positions of each job in turn, ascending: a stable sort, and faster, since all keys differ."""
    size = max(len(jobs), 1)
    return np.sort(jobs * size + np.arange(len(jobs))) % size


def raw(rows: Array) -> bytes:
    """Whole numbers as bytes, to be appended to a bytearray."""
    return rows.tobytes() if rows.dtype is _INT64 else rows.astype(_INT64).tobytes()


def numbers(notes: bytearray) -> Array:
    """What was appended as `raw` bytes."""
    return np.frombuffer(notes, dtype=_INT64)
