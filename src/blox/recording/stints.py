"""Stints: every uninterrupted time of a job on GPUs, from what happened to jobs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from blox.recording.journal import Happened, Kind
from blox.workloads.table import Array


class Stints(NamedTuple):
    """By stint, in order of their starts: the job, its start and end, and how many GPUs; all GPU ids."""

    job: Array
    start_s: Array
    end_s: Array
    counts: Array
    gpus: Array

    @classmethod
    def of(cls, happened: Happened, end_s: float) -> Stints:
        """Unfinished stints end with the run, at `end_s`."""
        starts, ends = (np.repeat(np.isin(happened.kind, k), happened.size) for k in (Kind.STARTS, Kind.ENDS))
        job, ended, bound = happened.job[starts], happened.job[ends], int(happened.job.max(initial=0)) + 1
        unfinished = np.bincount(job, minlength=bound) > np.bincount(ended, minlength=bound)
        ended = np.concatenate((ended, unfinished.nonzero()[0]))
        end_of = np.concatenate((happened.time_s[ends], np.full(len(job) - ends.sum(), end_s)))
        # The n-th start of a job and its n-th end belong together.
        end = np.empty(len(job))
        end[job.argsort(kind="stable")] = end_of[ended.argsort(kind="stable")]
        return cls(job, happened.time_s[starts], end, happened.counts, happened.gpus)

    def table(self) -> dict[str, Array]:
        """One row per stint and GPU."""
        job, start, end = (np.repeat(each, self.counts) for each in (self.job, self.start_s, self.end_s))
        return {"job": job, "gpu": self.gpus, "start_s": start, "end_s": end}

    def gpu_seconds(self, begin_s: float, until_s: float, *, shared: bool) -> float:
        """GPU-seconds held between two times; where jobs share GPUs, each GPU counts once."""
        if shared:
            return self._shared_gpu_s(begin_s, until_s)
        inside = np.minimum(self.end_s, until_s) - np.maximum(self.start_s, begin_s)
        return float((self.counts * np.maximum(inside, 0.0)).sum())

    def _shared_gpu_s(self, begin_s: float, until_s: float) -> float:
        """GPU-seconds between two times in which a GPU was held, by one job or by two that share it."""
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
