"""What a Schedule or an Allocation may grant: the range of each optional column, partners, and pinned GPUs.

Pins are an allocation of some of the jobs, and are held to the same rules as what a placement returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from blox.checks.broken import Broken
from blox.checks.values import kind_of, whole_numbers
from blox.state.cluster import WHOLE, ClusterState
from blox.state.jobs import JobState
from blox.state.misfit import job_named
from blox.state.plan import Allocation
from blox.state.schedule import Schedule
from blox.workloads.table import Array

_PIN_FORM = "pinned={row: (gpu, gpu, ...)}: rows of the Schedule, each with the ids of its GPUs"


class _Range(NamedTuple):
    """What the values of a column may be, beside `own` (-1), which stands for the job's own."""

    above: float
    most: float
    own: bool
    words: str


_RANGES = {
    "share_milli": _Range(0, WHOLE, False, f"thousandths of each GPU: above 0, {WHOLE} for all of it"),
    "cpu": _Range(0, np.inf, True, "CPU cores: a number above 0, or -1"),
    "memory_gb": _Range(0, np.inf, True, "gigabytes: a number above 0, or -1"),
    "config": _Range(0, np.inf, True, "the total batch size: a number above 0, or -1 for the job's own"),
}


def check_columns(
    answer: Schedule | Allocation, jobs: Array, job_state: JobState, cluster_state: ClusterState
) -> None:
    """Every optional column is aligned with the jobs and holds numbers that mean something."""
    whose = f"the {type(answer).__name__}'s"
    for name in ("gpus", "gpu_type") if isinstance(answer, Schedule) else ():
        if getattr(answer, name) is not None:
            _aligned(getattr(answer, name), name, len(jobs), whose)
    for name, allowed in _RANGES.items():
        column = getattr(answer, name)
        if column is not None:
            _aligned(column, name, len(jobs), whose)
            _in_range(column, name, allowed, jobs, job_state)
    if answer.share_group is not None:
        _aligned(answer.share_group, "share_group", len(jobs), whose)
        _partners(answer.share_group, jobs, job_state)
    if isinstance(answer, Schedule) and answer.gpu_type is not None:
        _gpu_types(answer.gpu_type, jobs, job_state, cluster_state)


def pinned_allocation(schedule: Schedule, job_state: JobState) -> Allocation | None:
    """The allocation that the pins of a schedule are; None where it has none."""
    pinned = schedule.pinned
    if pinned is None:
        return None
    if not isinstance(pinned, Mapping):
        raise Broken(f"the Schedule's pinned is {kind_of(pinned)}, not a dict", fix=_PIN_FORM, rule="columns")
    position = {row: place for place, row in enumerate(schedule.jobs.tolist())}
    places, counts, gpus = [], [], []
    for row, ids in pinned.items():
        if not isinstance(row, int | np.integer) or int(row) not in position:
            raise Broken(
                f"the Schedule pins row {row!r}, and does not list it",
                fix="pin jobs that the Schedule lists: its keys are their rows",
                rule="rows",
            )
        if not isinstance(ids, Sequence | np.ndarray) or isinstance(ids, str):
            name = job_named(int(row), job_state)
            raise Broken(f"{name} is pinned to {kind_of(ids)}, not to GPU ids", fix=_PIN_FORM, rule="columns")
        places.append(position[int(row)])
        counts.append(len(ids))
        gpus += list(ids)
    wrong = [gpu for gpu in gpus if not _is_id(gpu)]
    if wrong:
        raise Broken(
            f"a job is pinned to {kind_of(wrong[0])}, which is no GPU id",
            fix="pin to ids of GPUs: whole numbers, as in cluster_state.free_ids()",
            rule="columns",
        )
    chosen = np.array(places, dtype=np.int64)
    group = None if schedule.share_group is None else schedule.share_group[chosen]
    return Allocation(
        schedule.jobs[chosen],
        np.array(counts, dtype=np.int64),
        np.array(gpus, dtype=np.int64),
        share_group=group,
    )


def _is_id(gpu: Any) -> bool:
    return isinstance(gpu, int | np.integer) and not isinstance(gpu, bool) and abs(int(gpu)) < 2**62


def _aligned(column: Any, name: str, size: int, whose: str) -> None:
    if not isinstance(column, np.ndarray) or column.shape != (size,):
        is_array = isinstance(column, np.ndarray)
        shape = f"the shape {column.shape}" if is_array else f"the type {type(column).__name__}"
        raise Broken(
            f"the column {name!r} has {shape}, and there are {size} jobs",
            fix=f"give an array aligned with {whose} jobs, or leave it out",
            rule="columns",
        )


def _in_range(column: Array, name: str, allowed: _Range, jobs: Array, job_state: JobState) -> None:
    if column.dtype.kind not in "iuf":
        raise Broken(
            f"the column {name!r} is an array of {column.dtype}, not of numbers",
            fix=f"{name} is {allowed.words}",
            rule="columns",
        )
    good = (column > allowed.above) & (column <= allowed.most) & (column < np.inf)
    if allowed.own:
        good |= column == -1
    if not good.all():
        place = int(np.argmin(good))
        raise Broken(
            f"{name} of {job_named(int(jobs[place]), job_state)} is {column[place]}",
            fix=f"{name} is {allowed.words}",
            rule="columns",
        )


def _partners(partner: Array, jobs: Array, job_state: JobState) -> None:
    """Each partner is a job that is listed, another one, and names this one back."""
    fix = "share_group names, for each of two jobs that share their GPUs, the row of the other; -1: none"
    whole_numbers(partner, "the partners in share_group", fix)
    has = (partner != -1).nonzero()[0].tolist()
    of = dict(zip(jobs.tolist(), partner.tolist())) if has else {}
    for place in has:
        row, other = int(jobs[place]), int(partner[place])
        if other == row or of.get(other) != row:
            raise Broken(
                f"share_group of {job_named(row, job_state)} is {other}, which does not name it back",
                fix=fix,
                rule="columns",
            )


def _gpu_types(kinds: Array, jobs: Array, job_state: JobState, cluster_state: ClusterState) -> None:
    names = cluster_state.gpu_types
    fix = f"gpu_type is a position in cluster_state.gpu_types ({', '.join(names)}), or -1: any"
    whole_numbers(kinds, "the Schedule's gpu_type", fix)
    good = (kinds >= -1) & (kinds < len(names))
    if not good.all():
        place = int(np.argmin(good))
        job = job_named(int(jobs[place]), job_state)
        raise Broken(f"gpu_type of {job} is {kinds[place]}", fix=fix, rule="columns")
