"""What the pictures show, as small arrays: distributions, levels over time, waiting, GPUs by job.

Shared by the page and the pictures on paper. Numpy only. However long a run was, each function returns at
most a few thousand points and keeps the extremes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blox.report.measures import as_number
from blox.report.run import Array, Run
from blox.report.units import DAY, HOUR, MINUTE
from blox.results.tenants import evenness_over_time

# On the axis of finish-time fairness, as docs/semantics.md defines it.
RHO_AXIS = "rho (at most 1: as with an equal part, or better)"

# More bands than this, one over the other, hide what they should show.
MOST_BANDS = 3

MOST_TENANTS = 8  # in a picture of tenants

_CAUSES = ("admission", "priority", "capacity", "fragmentation", "arrival")

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
class Cdf:
    """A distribution: `share` of the values are at most `value`. Empty where there are no values."""

    value: Array
    share: Array


def cdf(values: Array, points: int = 500) -> Cdf:
    """The empirical distribution of the finite values, thinned to evenly spaced ranks.

    The least and the greatest value are always among the points; every point is exact.
    """
    finite = np.sort(np.asarray(values, dtype=np.float64)[np.isfinite(values)])
    count = len(finite)
    if count == 0:
        return Cdf(finite, finite)
    ranks = np.unique(np.linspace(0, count - 1, min(points, count)).round().astype(np.int64))
    return Cdf(finite[ranks], (ranks + 1) / count)


def app_rho(run: Run) -> Array:
    """rho of every app that has a job which counts, each once."""
    first = np.unique(tracked(run, "app"), return_index=True)[1]
    found: Array = tracked(run, "app_rho")[first]
    return found


def tracked(run: Run, column: str) -> Array:
    """A column of the jobs that count: those of the tracking window (nan where a job has no value)."""
    values = np.asarray(run.jobs.get(column, np.empty(0)), dtype=np.float64)
    if "in_window" not in run.jobs or column not in run.jobs:
        return values
    counted: Array = values[np.asarray(run.jobs["in_window"]).astype(bool)]
    return counted


@dataclass(frozen=True)
class Level:
    """A quantity over time (seconds).

    Exact steps, each value holding until the next time, where `low` and `high` are None; otherwise means
    over equal intervals, placed at their middles, with the least and greatest value in each.
    """

    time: Array
    value: Array
    low: Array | None = None
    high: Array | None = None
    interval_s: float = 0.0


def end_of(run: Run) -> float:
    """The time (seconds) at which a run ended, as far as its tables tell; 0 for an empty one."""
    ends = [np.asarray([as_number(run.summary.get("end_s"))])]
    ends += [
        np.asarray(table[key], dtype=np.float64)
        for table, key in ((run.rounds, "time_s"), (run.stints, "end_s"))
    ]
    together = np.concatenate(ends)
    together = together[np.isfinite(together)]
    return float(together.max()) if len(together) else 0.0


def level(time: Array, value: Array, end_s: float, points: int = 400) -> Level:
    """A step function from its change points; averaged over `points` intervals where it has more than that.

    A value of nan is a gap: it counts neither in means nor in extremes.
    """
    time, value = np.asarray(time, dtype=np.float64), np.asarray(value, dtype=np.float64)
    if len(time) == 0:
        return Level(time, value)
    end_s = max(end_s, float(time[-1]))
    if len(time) <= points or end_s == time[0]:
        return Level(np.append(time, end_s), np.append(value, value[-1]))
    edges = np.linspace(time[0], end_s, points + 1)
    first = np.searchsorted(time, edges[:-1], side="right") - 1  # the step that holds as the interval begins
    last = np.searchsorted(time, edges[1:], side="left") - 1  # the last step that begins before it ends
    last = np.maximum(last, first)
    spans = np.column_stack((first, last + 1)).ravel()
    known = np.isfinite(value)
    padded = np.append(value, np.nan)  # reduceat may name the end
    with np.errstate(all="ignore"):
        low = np.fmin.reduceat(padded, spans)[::2]
        high = np.fmax.reduceat(padded, spans)[::2]
        area = _integral(time, np.where(known, value, 0.0), edges)
        covered = _integral(time, known.astype(np.float64), edges)
        mean = np.where(covered > 0, area / covered, np.nan)
    # The integrals are differences of large sums; rounding must not push a mean out of its band.
    mean = np.fmax(low, np.fmin(high, mean))
    return Level((edges[:-1] + edges[1:]) / 2, mean, low, high, float(edges[1] - edges[0]))


def _integral(time: Array, value: Array, edges: Array) -> Array:
    """The integral of a step function over each interval between edges."""
    until = np.concatenate(([0.0], np.cumsum(value[:-1] * np.diff(time))))
    step = np.searchsorted(time, edges, side="right") - 1
    return np.diff(until[step] + value[step] * (edges - time[step]))


def utilisation(run: Run, points: int = 250) -> Level:
    """GPUs in use over time, per cent of the cluster."""
    total = np.asarray(run.rounds["gpus_total"], dtype=np.float64)
    used = np.asarray(run.rounds["gpus_used"], dtype=np.float64)
    share = np.divide(100 * used, total, out=np.full(len(used), np.nan), where=total > 0)
    return level(run.rounds["time_s"], share, end_of(run), points)


def queue(run: Run, points: int = 400) -> Level:
    """Jobs waiting over time: held by admission or admitted and not running."""
    waiting_jobs = np.asarray(run.rounds["held"]) + np.asarray(run.rounds["queued"])
    return level(run.rounds["time_s"], waiting_jobs, end_of(run), points)


def fragmentation(run: Run, points: int = 100) -> Level:
    """Free GPUs that stand on partly used nodes over time, per cent of the free GPUs."""
    share = 100 * np.asarray(run.rounds["fragmentation"], dtype=np.float64)
    return level(run.rounds["time_s"], share, end_of(run), points)


def tenants(run: Run) -> Level:
    """Jain's index of what tenants were given over their fair parts, per cent; gaps where none wants GPUs."""
    begins, index = evenness_over_time(run.tables["tenants"])
    return level(begins, 100 * index, end_of(run))


def served(run: Run) -> dict[str, Level]:
    """What the tenants with most GPU time were given over time, per cent of their fair part."""
    table = run.tables["tenants"]
    names, number = np.unique(np.asarray(table["tenant"]).astype(str), return_inverse=True)
    spent = np.bincount(number, table["given_gpus"])
    found = {}
    for largest in np.argsort(-spent, kind="stable")[:MOST_TENANTS].tolist():
        rows = np.flatnonzero(number == largest)
        fair = table["fair_gpus"][rows]
        share = np.divide(table["given_gpus"][rows], fair, out=np.full(len(rows), np.nan), where=fair > 0)
        time, until = table["time_s"][rows], table["until_s"][rows]
        idle = until[:-1][until[:-1] < time[1:]]  # it wants nothing until its next window
        order = np.argsort(np.concatenate((time, idle)), kind="stable")
        values = np.concatenate((100 * share, np.full(len(idle), np.nan)))[order]
        found[str(names[largest]) or "(none)"] = Level(np.concatenate((time, idle))[order], values)
    return found


def evicts(runs: Sequence[Run]) -> bool:
    """Whether jobs may lose their GPUs in some run."""
    return any("wait_eviction_s" in run.summary for run in runs)


def causes(runs: Sequence[Run]) -> tuple[str, ...]:
    """Why jobs may wait in these runs: the causes of all runs, and those that only some have."""
    told = ("scheduler",) if any("wait_scheduler_s" in run.summary for run in runs) else ()
    return (*_CAUSES[:-1], *told, _CAUSES[-1], *(("eviction",) if evicts(runs) else ()))


def waiting(run: Run) -> dict[str, float]:
    """Seconds that jobs waited in all, by cause; 0 where the run does not say."""
    found = {cause: as_number(run.summary.get(f"wait_{cause}_s")) for cause in causes([run])}
    return {cause: value if np.isfinite(value) else 0.0 for cause, value in found.items()}


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
