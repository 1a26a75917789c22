"""Fairness between tenants over time: what each wanted, got, and would have got by an equal division.

Time is cut into equal windows. A tenant *wants* the GPUs that its submitted, unfinished jobs ask for, and is
*given* those that they hold; both are averages over the window. Its *fair* part is what max-min fairness
gives it: an equal part of the cluster, nodes that are down or drained included, or what it wants where that
is less, and then an equal part of what others leave. docs/semantics.md works an example out by hand.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from blox.results.fairness import jain_index
from blox.workloads.table import Array

COLUMNS = ("time_s", "until_s", "tenant", "wanted_gpus", "given_gpus", "fair_gpus")
MOST_WINDOWS = 200
_LENGTHS_S = (60.0, 600.0, 3600.0, 6 * 3600.0, 86400.0, 7 * 86400.0, 28 * 86400.0)


def several_tenants(tenant: Array) -> bool:
    """Whether jobs belong to different tenants; a job without one counts for none."""
    return len(set(tenant.tolist()) - {""}) > 1


def tenants_over_time(
    jobs: Mapping[str, Array], stints: Mapping[str, Array], *, end_s: float, total_gpus: int
) -> dict[str, Array]:
    """A row per window and tenant that wants or holds GPUs in it, in order of time and name."""
    names, tenant = np.unique(jobs["tenant"].astype(str), return_inverse=True)
    begin_s = float(jobs["submit_s"].min())
    edges = _windows(begin_s, end_s)
    until = np.where(np.isnan(jobs["finish_s"]), end_s, jobs["finish_s"])
    held = np.asarray(stints["job"], dtype=np.int64)
    wanted, given = np.zeros((2, len(names), len(edges) - 1))
    for number in range(len(names)):
        mine, theirs = tenant == number, tenant[held] == number
        wanted[number] = _average(jobs["submit_s"][mine], until[mine], jobs["gpus"][mine], edges)
        ones = np.ones(int(theirs.sum()))
        given[number] = _average(stints["start_s"][theirs], stints["end_s"][theirs], ones, edges)
    fair = np.column_stack([max_min(column, total_gpus) for column in wanted.T])
    window, row = ((wanted > 0) | (given > 0)).T.nonzero()
    texts = names.astype(object)[row]
    figures = (each[row, window] for each in (wanted, given, fair))
    return dict(zip(COLUMNS, (edges[window], edges[window + 1], texts, *figures)))


def max_min(wanted: Array, total: float) -> Array:
    """The max-min fair division of a total: no part is larger than wanted, none could grow but at the cost of
    a smaller one."""
    given = np.zeros(len(wanted))
    left = float(total)
    order = np.argsort(wanted, kind="stable")
    for place, at in enumerate(order.tolist()):
        given[at] = min(float(wanted[at]), left / (len(order) - place))
        left -= given[at]
    return given


def evenness_over_time(table: Mapping[str, Array]) -> tuple[Array, Array]:
    """The begin of every window, and Jain's index of given over fair between the tenants in it."""
    begins, first = np.unique(table["time_s"], return_index=True)
    bounds = np.append(first, len(table["time_s"]))
    found = []
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist()):
        fair, given = table["fair_gpus"][low:high], table["given_gpus"][low:high]
        served = given[fair > 0] / fair[fair > 0]
        index = jain_index(served) if len(served) else None
        found.append(np.nan if index is None else index)
    return begins, np.array(found)


def _windows(begin_s: float, end_s: float) -> Array:
    """Their edges: of a round length, few enough; the last may reach beyond the end."""
    span = max(end_s - begin_s, _LENGTHS_S[0])
    length = next((each for each in _LENGTHS_S if span / each <= MOST_WINDOWS), span / MOST_WINDOWS)
    first = np.floor(begin_s / length)
    count = max(int(np.ceil(end_s / length - first)), 1)
    edges: Array = (first + np.arange(count + 1)) * length
    return edges


def _average(start_s: Array, end_s: Array, weight: Array, edges: Array) -> Array:
    """The average over each window of the weights of the spans that cover a moment."""
    if not len(start_s):
        return np.zeros(len(edges) - 1)
    time_s = np.concatenate((start_s, end_s)).astype(np.float64)
    order = np.argsort(time_s, kind="stable")
    time_s = time_s[order]
    level = np.cumsum(np.concatenate((weight, -np.asarray(weight, dtype=np.float64)))[order])
    area = np.concatenate(([0.0], np.cumsum(level[:-1] * np.diff(time_s))))
    found: Array = np.diff(np.interp(edges, time_s, area)) / np.diff(edges)
    return np.where(found < 1e-9 * np.abs(weight).max(initial=1.0), 0.0, found)
