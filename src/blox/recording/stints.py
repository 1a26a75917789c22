"""Stints: each uninterrupted period of a job on GPUs, from the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from blox.recording.journal import Happened, Kind
from blox.workloads.table import Array


class Stints(NamedTuple):
    """Per stint, in order of start: `job`, `start_s`, `end_s`, `counts` (GPUs). Per stint and GPU: `gpus`."""

    job: Array
    start_s: Array
    end_s: Array
    counts: Array
    gpus: Array

    @classmethod
    def of(cls, happened: Happened, end_s: float) -> Stints:
        """The stints of a journal; unfinished ones end with the run, at `end_s`."""
        job = happened.jobs(Kind.STARTS)
        end = _ends(job, happened, end_s)
        return cls(job, happened.times(Kind.STARTS), end, happened.counts, happened.gpus)

    def table(self) -> dict[str, Array]:
        """One row per stint and GPU."""
        of_stint = self.job.astype(np.int64), self.start_s, self.end_s
        job, start, end = (np.repeat(each, self.counts) for each in of_stint)
        return {"job": job, "gpu": self.gpus.astype(np.int64), "start_s": start, "end_s": end}

    def gpu_seconds(self, begin_s: float, until_s: float, *, shared: bool) -> float:
        """GPU-seconds held between two times; a GPU that jobs share (`shared`) counts once."""
        if shared:
            return self._shared_gpu_s(begin_s, until_s)
        held_s = np.minimum(self.end_s, until_s)  # changed in place: there are millions
        held_s -= np.maximum(self.start_s, begin_s)
        np.maximum(held_s, 0.0, out=held_s)
        held_s *= self.counts
        return float(held_s.sum())

    def _shared_gpu_s(self, begin_s: float, until_s: float) -> float:
        """GPU-seconds between two times during which one job, or two that share it, held a GPU."""
        stints = self.table()
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


def held_at(stints: Mapping[str, Array], time_s: float, states: Array | None = None) -> Array:
    """Mask over a table of stints: in which of them a job holds its GPU at a time.

    `states`: of all jobs when the run ended. The last stints of one that was running then were only cut by
    that end: there they hold too.
    """
    job, start_s, end_s = stints["job"], stints["start_s"], stints["end_s"]
    held: Array = time_s < end_s
    if states is not None and time_s >= end_s.max(initial=0.0):
        last_s = np.zeros(len(states))
        np.maximum.at(last_s, job, start_s)
        held = (states == "running")[job] & (start_s == last_s[job])
    return held & (start_s <= time_s)


def _ends(job: Array, happened: Happened, end_s: float) -> Array:
    """When each stint ends. `job`: of each stint, in order of start; its n-th start has its n-th end."""
    ended = happened.jobs(Kind.ENDS)
    end_of = happened.times(Kind.ENDS)[_by_row(ended)]
    starts = _by_row(job)
    if len(ended) < len(job):  # the last start of a job that still runs has no end
        begun = np.bincount(job)
        goes_on = begun > np.bincount(ended, minlength=len(begun))
        starts = np.delete(starts, begun.cumsum()[goes_on] - 1)
    end = np.full(len(job), float(end_s))
    end[starts] = end_of
    return end


def _by_row(rows: Array) -> Array:
    """Positions sorted by row; ties keep their order. A sort of plain numbers is far faster than argsort."""
    numbers = rows.astype(np.int64)
    numbers <<= 32  # rows are below 2**31, positions below 2**32: both fit in one number
    numbers |= np.arange(len(rows), dtype=np.uint32)
    numbers.sort()
    numbers &= 2**32 - 1
    return numbers
