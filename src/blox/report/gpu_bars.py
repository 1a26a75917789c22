"""Which job held which GPUs when, as rectangles, and the part of the runs that a Gantt view shows of them.

Shared by the page and the pictures on paper, like `series.py`. Numpy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blox.report.run import Array, Run
from blox.report.series import end_of
from blox.report.units import DAY, HOUR, MINUTE

MOST_PANELS = 6  # runs of a Gantt view

_WINDOW_LENGTHS_S = tuple(
    count * unit.seconds
    for unit, counts in (
        (MINUTE, (1, 2, 5, 10, 15, 30)),
        (HOUR, (1, 2, 3, 6, 12)),
        (DAY, (1, 2, 4, 7, 14, 30)),
    )
    for count in counts
)


@dataclass(frozen=True)
class Bars:
    """Rectangles of a Gantt view: job row, lowest GPU, number of GPUs, seconds from and to."""

    job: Array
    gpu: Array
    gpus: Array
    start_s: Array
    end_s: Array

    def __len__(self) -> int:
        return len(self.job)

    def between(self, start_s: float, end_s: float) -> Bars:
        """Those that are visible in a range of time; not cut."""
        seen = (self.end_s > start_s) & (self.start_s < end_s)
        return Bars(self.job[seen], self.gpu[seen], self.gpus[seen], self.start_s[seen], self.end_s[seen])


@dataclass(frozen=True)
class GanttWindow:
    """The part of the runs that a Gantt view shows: the first GPUs, and a range of time (seconds)."""

    gpus: int
    of_gpus: int
    start_s: float
    end_s: float
    whole: bool
    reason: str = ""


def bars(run: Run, gpus: int) -> Bars:
    """The stints on the first GPUs, those of one job side by side on neighbouring GPUs joined."""
    gpu = np.asarray(run.stints["gpu"])
    chosen = np.flatnonzero(gpu < gpus)
    job, gpu = np.asarray(run.stints["job"])[chosen], gpu[chosen]
    start = np.asarray(run.stints["start_s"], dtype=np.float64)[chosen]
    end = np.asarray(run.stints["end_s"], dtype=np.float64)[chosen]
    order = np.lexsort((gpu, end, start, job))
    job, gpu, start, end = job[order], gpu[order], start[order], end[order]
    fresh = np.ones(len(job), dtype=bool)
    fresh[1:] = (np.diff(job) != 0) | (np.diff(start) != 0) | (np.diff(end) != 0) | (np.diff(gpu) != 1)
    heads = np.flatnonzero(fresh)
    return Bars(job[heads], gpu[heads], np.diff(np.append(heads, len(job))), start[heads], end[heads])


def outages(run: Run, gpus: int) -> Bars:
    """When the first GPUs were down, as rectangles; none where nothing fails. `job` means nothing."""
    table = run.tables.get("outages")
    if table is None:
        nothing = np.empty(0)
        return Bars(nothing, nothing, nothing, nothing, nothing)
    first, last = table["gpu"], np.minimum(table["gpu"] + table["gpus"], gpus)
    seen = first < gpus
    return Bars(
        first[seen],
        first[seen],
        (last - first)[seen],
        np.asarray(table["down_s"], dtype=np.float64)[seen],
        np.asarray(table["up_s"], dtype=np.float64)[seen],
    )


def gantt_window(runs: Sequence[Run], gpus: int = 32, most_bars: int = 400) -> GanttWindow:
    """The view that fits all runs: at most `gpus` GPUs and about `most_bars` rectangles in each.

    Long runs are shown for a round length of time around the moment, common to all, at which one of them
    has the most jobs waiting: where schedulers differ. `reason` says so.
    """
    of_gpus = max((_gpus_of(run) for run in runs), default=0)
    shown = min(gpus, of_gpus)
    drawn = [bars(run, shown) for run in runs]
    end_s = max((float(found.end_s.max()) for found in drawn if len(found)), default=0.0)
    start_s = min((float(found.start_s.min()) for found in drawn if len(found)), default=0.0)
    if all(len(found) <= most_bars for found in drawn):
        return GanttWindow(shown, of_gpus, start_s, end_s, shown == of_gpus)
    middle, reason = _moment(runs, (start_s + end_s) / 2)
    choice = (start_s, end_s)
    for length in reversed(_WINDOW_LENGTHS_S):
        begin = max(start_s, np.floor((middle - length / 2) / _grain(length)) * _grain(length))
        choice = (begin, begin + length)
        if all(len(found.between(*choice)) <= most_bars for found in drawn):
            break
    return GanttWindow(shown, of_gpus, *choice, whole=False, reason=reason)


def _moment(runs: Sequence[Run], otherwise: float) -> tuple[float, str]:
    """The time before the first of the runs ends at which one of them has the most jobs waiting."""
    common_end = min(end_of(run) for run in runs)
    most, moment = 0.0, otherwise
    for run in runs:
        time = np.asarray(run.rounds["time_s"])
        waiting_jobs = (np.asarray(run.rounds["held"]) + np.asarray(run.rounds["queued"]))[time <= common_end]
        if len(waiting_jobs) and waiting_jobs.max() > most:
            most, moment = float(waiting_jobs.max()), float(time[int(waiting_jobs.argmax())])
    return moment, "around the time at which most jobs wait" if most else "in the middle of the run"


def _grain(length_s: float) -> float:
    """The round number of seconds at which a window of this length begins."""
    return next(unit.seconds for unit in (DAY, HOUR, MINUTE) if length_s >= unit.seconds)


def _gpus_of(run: Run) -> int:
    totals = np.asarray(run.rounds["gpus_total"])
    used = np.asarray(run.stints["gpu"])
    return max(int(totals.max()) if len(totals) else 0, int(used.max()) + 1 if len(used) else 0)
