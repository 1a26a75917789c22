"""Which jobs ran instead: those that held the GPUs while a job waited."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.explain.intervals import RUNNING, Interval
from blox.recording.wait_causes import ARRIVAL
from blox.results.result import Result


@dataclass(frozen=True)
class RanInstead:
    """A job (row) that held GPUs while another waited: for so much GPU time, which is this share of all."""

    row: int
    gpu_s: float
    share: float


def ran_instead(result: Result, history: list[Interval]) -> list[RanInstead]:
    """The jobs that held GPUs while the job of this history waited, those with the most GPU time first.

    The time until the round that saw its submission does not count: no job ran instead of it yet.
    """
    waits = [each for each in history if each.state not in (RUNNING, ARRIVAL)]
    if not waits:
        return []
    # seconds waited up to a time: linear inside a wait, constant between two
    times = np.array([time for each in waits for time in (each.start_s, each.end_s)])
    waited = np.repeat(np.cumsum([0.0, *(each.seconds for each in waits)]), 2)[1:-1]
    stints = result.stints
    until, since = (np.interp(stints[name], times, waited) for name in ("end_s", "start_s"))
    gpu_s = np.bincount(stints["job"], until - since, minlength=len(result.jobs["job_id"]))
    total = float(gpu_s.sum())
    order = np.argsort(-gpu_s, kind="stable")
    return [RanInstead(row, float(gpu_s[row]), float(gpu_s[row]) / total) for row in order[gpu_s[order] > 0]]
