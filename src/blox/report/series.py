"""What the pictures show, as small arrays: distributions, levels over time, waiting.

Shared by the page and the pictures on paper. Numpy only. However long a run was, each function returns at
most a few thousand points and keeps the extremes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from blox.report.measures import as_number
from blox.report.run import Array, Run
from blox.results.samples import runs_of
from blox.results.share_bounds import share_bounds
from blox.results.statistics import mean_interval
from blox.results.tenants import evenness_over_time

# On the axis of finish-time fairness, as docs/semantics.md defines it.
RHO_AXIS = "rho (at most 1: as with an equal part, or better)"

# More bands than this, one over the other, hide what they should show; intervals are narrower than extremes.
MOST_BANDS, MOST_INTERVALS = 3, 6
_BAND_POINTS = 80

MOST_TENANTS = 8  # in a picture of tenants
_MOST_STEPS = 250  # of a course whose windows were made with the results: they are fewer

_CAUSES = ("admission", "priority", "capacity", "fragmentation", "arrival")


@dataclass(frozen=True)
class Cdf:
    """A distribution: `share` of the values are at most `value`. Empty where there are no values."""

    value: Array
    share: Array


@dataclass(frozen=True)
class CdfBand:
    """Between `low` and `high` is the share of jobs that are at most `value`, with 95 % at each value."""

    value: Array
    low: Array
    high: Array


def cdf_band(run: Run, column: str) -> CdfBand | None:
    """The 95 % interval of a distribution at evenly spaced ranks; None where it cannot be told."""
    value = np.unique(cdf(tracked(run, column), _BAND_POINTS).value)
    bounds = share_bounds(run, column, value) if len(value) else None
    return None if bounds is None else CdfBand(value, *bounds)


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

    Exact steps, each value holding until the next time, where `low` and `high` are None. Otherwise means over
    equal intervals, placed at their middles: of one run with the least and greatest value in each; over
    several `seeds`, of as many runs, with the 95 % interval.
    """

    time: Array
    value: Array
    low: Array | None = None
    high: Array | None = None
    interval_s: float = 0.0
    seeds: int = 1

    @property
    def most_bands(self) -> int:
        """Of so many levels in one picture the bands are drawn."""
        return MOST_BANDS if self.seeds == 1 else MOST_INTERVALS


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
    low, mean, high = _by_interval(time, value, edges)
    return Level((edges[:-1] + edges[1:]) / 2, mean, low, high, float(edges[1] - edges[0]))


def _by_interval(time: Array, value: Array, edges: Array) -> tuple[Array, Array, Array]:
    """The least, mean and greatest value of a step function in each interval; nan where it has none."""
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
    return low, np.fmax(low, np.fmin(high, mean)), high


Steps = tuple[Array, Array]  # the times (s) at which a quantity changes, and its value from each on


def _course(run: Run, steps: Callable[[Run], Steps], points: int, most: float = np.inf) -> Level:
    """A quantity of a run over time; over several seeds, their mean."""
    runs = runs_of(run)
    if len(runs) == 1:
        return level(*steps(run), end_of(run), points)
    return _mean_level([steps(each) for each in runs], [_end_s(each) for each in runs], points, most=most)


def _mean_level(
    found: Sequence[Steps], ends: Sequence[float], points: int, least: float = 0.0, most: float = np.inf
) -> Level:
    """The mean of several step functions by interval, each counting up to its own end; its 95 % interval
    where all of them go on, within what the quantity can be."""
    known = [(time, value, end) for (time, value), end in zip(found, ends) if len(time)]
    if len(known) < 2:
        return Level(np.empty(0), np.empty(0), seeds=len(found))
    begin = min(float(time[0]) for time, _, _ in known)
    edges = np.linspace(begin, max(end for _, _, end in known), points + 1)
    means = np.empty((len(known), points))
    for row, (time, value, end) in enumerate(known):
        steps = np.concatenate(([begin], time, [max(end, float(time[-1]))]))
        means[row] = _by_interval(steps, np.concatenate(([np.nan], value, [np.nan])), edges)[1]
    going = np.isfinite(means).sum(axis=0)
    value = np.divide(np.nansum(means, axis=0), going, out=np.full(points, np.nan), where=going > 0)
    low, high = value.copy(), value.copy()
    for at in np.flatnonzero(going == len(found)).tolist():
        each = mean_interval(means[:, at])
        if each is not None:
            low[at], high[at] = max(each.low, least), min(each.high, most)
    middles = (edges[:-1] + edges[1:]) / 2
    return Level(middles, value, low, high, float(edges[1] - edges[0]), len(found))


def _end_s(run: Run) -> float:
    """When a run ended, by its summary, or else by its tables."""
    found = as_number(run.summary.get("end_s"))
    return found if np.isfinite(found) else end_of(run)


def _integral(time: Array, value: Array, edges: Array) -> Array:
    """The integral of a step function over each interval between edges."""
    until = np.concatenate(([0.0], np.cumsum(value[:-1] * np.diff(time))))
    step = np.searchsorted(time, edges, side="right") - 1
    return np.diff(until[step] + value[step] * (edges - time[step]))


def utilisation(run: Run, points: int = 250) -> Level:
    """GPUs in use over time, per cent of the cluster."""

    def steps(run: Run) -> Steps:
        total = np.asarray(run.rounds["gpus_total"], dtype=np.float64)
        used = np.asarray(run.rounds["gpus_used"], dtype=np.float64)
        share = np.divide(100 * used, total, out=np.full(len(used), np.nan), where=total > 0)
        return np.asarray(run.rounds["time_s"], dtype=np.float64), share

    return _course(run, steps, points, most=100.0)


def queue(run: Run, points: int = 400) -> Level:
    """Jobs waiting over time: held by admission or admitted and not running."""

    def steps(run: Run) -> Steps:
        waiting_jobs = np.asarray(run.rounds["held"], dtype=np.float64) + np.asarray(run.rounds["queued"])
        return np.asarray(run.rounds["time_s"], dtype=np.float64), waiting_jobs

    return _course(run, steps, points)


def fragmentation(run: Run, points: int = 100) -> Level:
    """Free GPUs that stand on partly used nodes over time, per cent of the free GPUs."""

    def steps(run: Run) -> Steps:
        share = 100 * np.asarray(run.rounds["fragmentation"], dtype=np.float64)
        return np.asarray(run.rounds["time_s"], dtype=np.float64), share

    return _course(run, steps, points, most=100.0)


def tenants(run: Run) -> Level:
    """Jain's index of what tenants were given over their fair parts, per cent; gaps where none wants GPUs."""

    def steps(run: Run) -> Steps:
        begins, index = evenness_over_time(run.tables["tenants"])
        return begins, 100 * index

    return _course(run, steps, _MOST_STEPS, most=100.0)


def served(run: Run) -> dict[str, Level]:
    """What the tenants with most GPU time were given over time, per cent of their fair part."""
    runs = runs_of(run)
    spent: dict[str, float] = {}
    for each in runs:
        table = each.tables["tenants"]
        for name, gpus in zip(table["tenant"].tolist(), table["given_gpus"].tolist()):
            spent[name] = spent.get(name, 0.0) + gpus
    found = {}
    for largest in sorted(spent, key=lambda name: (-spent[name], name))[:MOST_TENANTS]:
        steps = [_served_steps(each, largest) for each in runs]
        if len(steps) == 1:
            found[largest or "(none)"] = Level(*steps[0])
        else:
            found[largest or "(none)"] = _mean_level(steps, [_end_s(each) for each in runs], _MOST_STEPS)
    return found


def _served_steps(run: Run, tenant: str) -> Steps:
    """Given over fair, per cent, from the begin of each window on in which a tenant wants GPUs."""
    table = run.tables["tenants"]
    rows = np.flatnonzero(np.asarray(table["tenant"]) == tenant)
    fair = table["fair_gpus"][rows]
    share = np.divide(table["given_gpus"][rows], fair, out=np.full(len(rows), np.nan), where=fair > 0)
    time, until = table["time_s"][rows], table["until_s"][rows]
    idle = until[:-1][until[:-1] < time[1:]]  # it wants nothing until its next window
    order = np.argsort(np.concatenate((time, idle)), kind="stable")
    values = np.concatenate((100 * share, np.full(len(idle), np.nan)))[order]
    return np.concatenate((time, idle))[order], values


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
