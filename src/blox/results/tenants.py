"""How GPUs were divided between tenants over time, against what each was entitled to.

In an interval of time a tenant *asks* for the GPUs of its jobs that have been submitted and have not ended,
and *holds* some. Its *fair* part is the max-min share of the cluster's GPUs: every tenant has the same, or as
its weight says, none more than it asks for, and what is left over goes to the others. All three are averages
over the interval. Held over fair is how a tenant was served; Jain's index of that, over the tenants that
asked for GPUs, is 1 where all were served alike and 1/n where one of n had everything.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.results.groups import groups_of
from blox.workloads.table import Array

COLUMNS = ("tenant", "user")  # the first in which jobs differ says who the tenants are
_LEAST_ASKED = 1e-9  # GPUs: below, a tenant did not ask for any


@dataclass(frozen=True)
class TenantCourse:
    """GPUs of each tenant in each interval between `edges_s` (tenants x intervals)."""

    column: str
    names: tuple[str, ...]
    edges_s: Array
    held: Array
    asked: Array
    fair: Array

    @property
    def served(self) -> Array:
        """Held over fair; nan where a tenant asked for nothing."""
        asks = self.asked > _LEAST_ASKED
        found: Array = np.divide(self.held, self.fair, out=np.full(self.held.shape, np.nan), where=asks)
        return found

    @property
    def index(self) -> Array:
        """Jain's index over the tenants that asked, by interval; nan where fewer than two did."""
        served = np.nan_to_num(self.served)
        count = (self.asked > _LEAST_ASKED).sum(axis=0)
        squares = (served * served).sum(axis=0)
        known = (count > 1) & (squares > 0)
        found: Array = np.full(len(count), np.nan)
        np.divide(served.sum(axis=0) ** 2, count * squares, out=found, where=known)
        return found


def tenant_course(
    run: Any, intervals: int = 120, weights: Mapping[str, float] | None = None
) -> TenantCourse | None:
    """The course of a run, from the first submission to its end; None where jobs have one tenant, or none.

    `weights` by name: 1 where none is given.
    """
    jobs = run.jobs
    column = next((name for name in COLUMNS if name in jobs and len(set(jobs[name].tolist())) > 1), None)
    if column is None or not len(run.rounds["time_s"]):
        return None
    groups = groups_of(np.asarray(jobs[column]), np.arange(len(jobs[column])))
    begin_s, end_s = float(np.min(jobs["submit_s"])), float(run.summary["end_s"])
    if not end_s > begin_s:
        return None
    edges_s = np.linspace(begin_s, end_s, intervals + 1)
    finish_s = np.asarray(jobs["finish_s"], dtype=np.float64)
    until_s = np.where(np.isnan(finish_s), end_s, finish_s)
    tenant = np.empty(len(until_s), dtype=np.int64)
    for number, group in enumerate(groups):
        tenant[group.rows] = number
    asked = _by_tenant(tenant, jobs["submit_s"], until_s, jobs["gpus"], edges_s)
    stints = run.stints
    held = _by_tenant(
        tenant[stints["job"]], stints["start_s"], stints["end_s"], np.ones(len(stints["job"])), edges_s
    )
    names = tuple(str(group.value) for group in groups)
    weight = np.array([(weights or {}).get(name, 1.0) for name in names])
    time_s = run.rounds["time_s"]
    total = _averages(time_s, np.append(time_s[1:], end_s), run.rounds["gpus_total"], edges_s)
    return TenantCourse(column, names, edges_s, held, asked, fair_shares(asked, total, weight))


def fair_shares(asked: Array, total: Array, weight: Array) -> Array:
    """The weighted max-min shares of `total` (by interval) among tenants that ask for `asked`.

    A level is found at which weight x level, or what is asked for if that is less, adds up to the total.
    """
    ratio = asked / weight[:, None]
    order = np.argsort(ratio, axis=0, kind="stable")
    level, wants = np.take_along_axis(ratio, order, axis=0), np.take_along_axis(asked, order, axis=0)
    given = np.cumsum(wants, axis=0) - wants  # to tenants before, which have all that they ask for
    sharing = np.cumsum(weight[order][::-1], axis=0)[::-1]  # weights of this tenant and those after it
    reached = (total - given) / sharing
    short = reached < level
    first = np.where(short.any(axis=0), short.argmax(axis=0), 0)
    cut = np.where(short.any(axis=0), np.take_along_axis(reached, first[None, :], axis=0)[0], np.inf)
    found: Array = np.minimum(asked, np.maximum(cut, 0.0) * weight[:, None])
    return found


def _by_tenant(tenant: Array, start_s: Array, end_s: Array, gpus: Array, edges_s: Array) -> Array:
    order = np.argsort(tenant, kind="stable")
    bounds = np.searchsorted(tenant[order], np.arange(int(tenant.max(initial=-1)) + 2))
    start_s, end_s, gpus = (np.asarray(each, dtype=np.float64)[order] for each in (start_s, end_s, gpus))
    each = itertools.pairwise(bounds.tolist())
    return np.array([_averages(start_s[a:b], end_s[a:b], gpus[a:b], edges_s) for a, b in each])


def _averages(start_s: Array, end_s: Array, amount: Array, edges_s: Array) -> Array:
    """The average over each interval of what several amounts add up to, each from its start to its end."""
    if not len(start_s):
        return np.zeros(len(edges_s) - 1)
    time = np.concatenate((start_s, end_s))
    change = np.concatenate((amount, np.negative(amount)))
    order = np.argsort(time, kind="stable")
    time = time[order]
    area = np.concatenate(([0.0], np.cumsum(np.cumsum(change[order])[:-1] * np.diff(time))))
    found: Array = np.diff(np.interp(edges_s, time, area)) / np.diff(edges_s)
    return found
