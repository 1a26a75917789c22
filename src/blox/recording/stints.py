"""Stints: each uninterrupted period of a job on GPUs, from the journal."""

from __future__ import annotations

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
        starts, ends = (np.repeat(np.isin(happened.kind, k), happened.size) for k in (Kind.STARTS, Kind.ENDS))
        job, ended, end_of = happened.job[starts], happened.job[ends], happened.time_s[ends]
        if unfinished := len(job) - len(ended):
            bound = int(job.max()) + 1
            goes_on = np.bincount(job, minlength=bound) > np.bincount(ended, minlength=bound)
            ended = np.concatenate((ended, goes_on.nonzero()[0]))
            end_of = np.concatenate((end_of, np.full(unfinished, end_s)))
        # The n-th start of a job belongs to its n-th end.
        end = np.empty(len(job))
        end[_by_row(job)] = end_of[_by_row(ended)]
        return cls(job, happened.time_s[starts], end, happened.counts, happened.gpus)

    def table(self) -> dict[str, Array]:
        """One row per stint and GPU."""
        job, start, end = (np.repeat(each, self.counts) for each in (self.job, self.start_s, self.end_s))
        return {"job": job, "gpu": self.gpus, "start_s": start, "end_s": end}

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


def _by_row(rows: Array) -> Array:
    """Positions sorted by row; ties keep their order. A sort of plain numbers is far faster than argsort."""
    numbers = rows << 32  # rows are below 2**31, positions below 2**32: both fit in one number
    numbers |= np.arange(len(rows))
    numbers.sort()
    numbers &= 2**32 - 1
    return numbers
