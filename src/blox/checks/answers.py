"""What each verb may answer: every rule of the contract about a returned value, in code and in words.

Each function takes an answer and what it was an answer to, and returns it in the form that the loop works
on, or raises Broken with the rule, what is wrong and how to mend it.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from msgspec.structs import replace

from blox.checks.broken import Broken
from blox.checks.grants import check_columns, pinned_allocation
from blox.checks.kinds import KINDS, Kind
from blox.checks.plans import check_parts
from blox.checks.values import first, kind_of, whole_numbers
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.line import Line
from blox.state.misfit import job_named, misfit, misshapen
from blox.state.plan import Allocation, Plan
from blox.state.schedule import Schedule
from blox.workloads.table import Array


def accepted(answer: Any, new_jobs: Array, job_state: JobState) -> Array:
    """Rows of the wait queue, each once."""
    rows = _rows(answer, KINDS["admission"])
    _each_once(rows, "accept() returns", job_state)
    stranger = first(rows, ~np.isin(rows, new_jobs))
    if stranger is not None:
        raise Broken(
            f"accept() returns {job_named(stranger, job_state)}, which is not in the wait queue",
            fix="return a selection of the rows in new_jobs",
            rule="rows",
        )
    return rows


def terminated(answer: Any, job_state: JobState) -> Array:
    """Rows of active jobs, each once."""
    rows = _rows(answer, KINDS["termination"])
    _each_once(rows, "terminate() returns", job_state)
    _all_active(rows, "terminate() returns", job_state, "return a selection of job_state.active")
    return rows


def scheduled(answer: Any, job_state: JobState, cluster_state: ClusterState) -> Schedule:
    """Active jobs, each once; columns aligned; keys that can be ordered; grants that can be met."""
    if not isinstance(answer, Schedule):
        raise _wrong_type(answer, KINDS["scheduling"])
    jobs = whole_numbers(
        answer.jobs, "the Schedule's jobs", "give the rows of the jobs: job_state.active[...]"
    )
    if answer.jobs is not job_state.active:
        _each_once(jobs, "the Schedule lists", job_state)
        _all_active(jobs, "the Schedule lists", job_state, "list rows of job_state.active only")
    if not isinstance(answer.keys, tuple):
        raise Broken(
            f"the Schedule's keys are {kind_of(answer.keys)}, not a tuple of arrays",
            fix="write by=key, or by=(first_key, second_key)",
            rule="columns",
        )
    for name in ("strict", "preempt"):
        if not isinstance(getattr(answer, name), bool | np.bool_):
            what = f"the Schedule's {name} is {kind_of(getattr(answer, name))}, not True or False"
            raise Broken(what, fix=f"write {name}=True or {name}=False", rule="answer")
    for number, key in enumerate(answer.keys):
        _orderable(key, number, jobs, job_state)
    check_columns(answer, jobs, job_state, cluster_state)
    gpus = answer.gpus
    if gpus is not None:
        gpus = _possible_grants(gpus, jobs, job_state, cluster_state)
    if (pins := pinned_allocation(answer, job_state)) is not None:
        _whole_gangs(pins, answer, job_state)
        _usable(pins, cluster_state, job_state)
        if not cluster_state.one_pool:
            _right_types(pins, answer, cluster_state, job_state, rule="gpus")
    if jobs is answer.jobs and gpus is answer.gpus:
        return answer
    return dataclasses.replace(answer, line=Line(jobs, answer.keys), gpus=gpus)


def placed(
    answer: Any,
    schedule: Schedule,
    cluster_state: ClusterState,
    job_state: JobState,
    *,
    one_pool: bool = False,
) -> Plan:
    """Jobs of the schedule, each once and whole, on GPUs that exist, are up and are used once.

    `one_pool`: the policy declares that nodes and types do not matter to it.
    """
    now, given = cluster_state.allocation, Plan()
    if isinstance(answer, Plan):  # of a built-in policy that this one asked: its outcome counts
        check_parts(answer, now, job_state)
        given, answer = answer, answer.outcome(now)
    if not isinstance(answer, Allocation):
        raise _wrong_type(answer, KINDS["placement"])
    advice = "give arrays of whole numbers: jobs, counts (GPUs of each), gpus (ids, job by job)"
    numbers = {
        name: whole_numbers(getattr(answer, name), f"the Allocation's {name}", advice)
        for name in ("jobs", "counts", "gpus")
    }
    if answer is not now:
        answer = replace(answer, **numbers)
    if fault := misshapen(answer):
        raise Broken(fault.what, fix=fault.fix, rule="columns")
    jobs = numbers["jobs"]
    _each_once(jobs, "the Allocation holds", job_state)
    stranger = first(jobs, ~np.isin(jobs, schedule.jobs))
    if stranger is not None:
        raise Broken(
            f"{job_named(stranger, job_state)} gets GPUs, and the schedule does not list it",
            fix="place jobs of schedule.jobs only; a job that is not listed gives up its GPUs",
            rule="rows",
        )
    check_columns(answer, jobs, job_state, cluster_state)
    _whole_gangs(answer, schedule, job_state)
    _usable(answer, cluster_state, job_state)
    if not one_pool:
        _right_types(answer, schedule, cluster_state, job_state)
    plan = Plan.diff(now, answer, blocked=given.blocked)
    return given.sealed() if _same_parts(given, plan) else plan


def _same_parts(given: Plan, plan: Plan) -> bool:
    """Whether a plan that a policy returned has the parts that comparison gives."""
    pairs = (
        (given.launch.jobs, plan.launch.jobs),
        (given.suspend, plan.suspend),
        (given.move.jobs, plan.move.jobs),
        (given.adjust.jobs, plan.adjust.jobs),
        (given.freed, plan.freed),
    )
    return given.wanted is None and all(np.array_equal(np.sort(a), np.sort(b)) for a, b in pairs)


def stable(answer: Any) -> float:
    """A time; nothing else."""
    try:
        time_s = float(answer)
    except (TypeError, ValueError, OverflowError):
        time_s = math.nan
    if math.isnan(time_s):
        raise Broken(
            f"stable_until() returns {answer!r}, not a time",
            fix="return the time in seconds until which the answer stays the same, or float('inf'); "
            "leave the method out if you do not know",
            rule="stable",
        )
    return time_s


def _rows(answer: Any, kind: Kind) -> Array:
    if isinstance(answer, (list, tuple)):
        try:
            answer = np.asarray(answer, dtype=np.int64 if not len(answer) else None)
        except (ValueError, OverflowError):  # arrays of several lengths, numbers beyond measure
            raise _wrong_type(answer, kind) from None
    if not isinstance(answer, np.ndarray):
        raise _wrong_type(answer, kind)
    if answer.dtype == bool:
        raise Broken(f"{kind.verb}() returns a mask, not rows", fix=kind.example, rule="answer")
    if answer.ndim != 1 or (len(answer) and answer.dtype.kind not in "iu"):
        raise Broken(
            f"{kind.verb}() returns an array of {answer.dtype} with {answer.ndim} dimensions, not rows",
            fix=kind.example,
            rule="answer",
        )
    return answer.astype(np.int64, copy=False)


def _wrong_type(answer: Any, kind: Kind) -> Broken:
    return Broken(
        f"{kind.verb}() returns {kind_of(answer)}, not {kind.gives}", fix=kind.example, rule="answer"
    )


def _each_once(rows: Array, verb: str, job_state: JobState) -> None:
    unknown = first(rows, (rows < 0) | (rows >= job_state.submitted))
    if unknown is not None:
        known = f"only rows 0 to {job_state.submitted - 1} have" if job_state.submitted else "no job has"
        raise Broken(
            f"{verb} row {unknown}, and {known} been submitted",
            fix="use the rows you are given (job_state.active, new_jobs), not positions or ids of your own",
            rule="rows",
        )
    found, times = np.unique(rows, return_counts=True)
    twice = first(found, times > 1)
    if twice is not None:
        raise Broken(
            f"{verb} {job_named(twice, job_state)} more than once", fix="list every job once", rule="rows"
        )


def _all_active(rows: Array, verb: str, job_state: JobState, fix: str) -> None:
    stranger = first(rows, ~np.isin(rows, job_state.active))
    if stranger is not None:
        raise Broken(
            f"{verb} {job_named(stranger, job_state)}, which is not active (admitted and unfinished)",
            fix=fix,
            rule="rows",
        )


def _orderable(key: Any, number: int, jobs: Array, job_state: JobState) -> None:
    name = f"key {number + 1} of the Schedule"
    if not isinstance(key, np.ndarray) or key.dtype.kind not in "iufb":
        what = f"an array of {key.dtype}" if isinstance(key, np.ndarray) else kind_of(key)
        raise Broken(
            f"{name} is {what}", fix="give an array of numbers, one per job; smallest first", rule="columns"
        )
    if key.shape != jobs.shape:
        raise Broken(
            f"{name} has the shape {key.shape}, for {len(jobs)} jobs",
            fix="give one number per listed job; accessors such as job_state.gpus are aligned with "
            "job_state.active, job_state.columns are not",
            rule="columns",
        )
    if key.dtype.kind == "f":
        nowhere = first(jobs, np.isnan(key))
        if nowhere is not None:
            raise Broken(
                f"{name} is nan for {job_named(nowhere, job_state)}: it has no place in the order",
                fix="give a number where nothing is known: np.nan_to_num(key, nan=...)",
                rule="columns",
            )


def _possible_grants(gpus: Array, jobs: Array, job_state: JobState, cluster_state: ClusterState) -> Array:
    """`gpus` as int64, if each job can use as many."""
    gpus = whole_numbers(gpus, "the Schedule's gpus", "grant whole GPUs; share_milli says how much of each")
    least, most = job_state.columns.min_gpus[jobs], job_state.columns.max_gpus[jobs]
    wrong = (gpus < np.maximum(1, least)) | (gpus > most)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise Broken(
            f"{job_named(int(jobs[index]), job_state)} is granted {int(gpus[index])} GPUs, and can use "
            f"{int(least[index])} to {int(most[index])}",
            fix="grant between min_gpus and max_gpus; leave a job out of the Schedule to give it none",
            rule="gangs",
        )
    return gpus


def _whole_gangs(wanted: Allocation, schedule: Schedule, job_state: JobState) -> None:
    if schedule.gpus is None:
        granted = job_state.columns.gpus[wanted.jobs]
    else:
        by_row = np.argsort(schedule.jobs, kind="stable")
        granted = schedule.gpus[by_row[np.searchsorted(schedule.jobs, wanted.jobs, sorter=by_row)]]
    wrong = wanted.counts != granted
    if wrong.any():
        index = int(np.argmax(wrong))
        raise Broken(
            f"{job_named(int(wanted.jobs[index]), job_state)} gets {int(wanted.counts[index])} GPUs, "
            f"and is granted {int(granted[index])}",
            fix="give a job all that it is granted (schedule.gpus, or else what it asks for), or nothing",
            rule="gangs",
        )


def _usable(wanted: Allocation, cluster_state: ClusterState, job_state: JobState) -> None:
    if (fault := misfit(wanted, cluster_state, job_state)) is not None:
        raise Broken(fault.what, fix=fault.fix, rule="gpus")


def _right_types(
    wanted: Allocation,
    schedule: Schedule,
    cluster_state: ClusterState,
    job_state: JobState,
    rule: str = "types",
) -> None:
    if schedule.gpu_type is None and not job_state.typed:
        return
    types = cluster_state.gpu_type[wanted.gpus]
    pieces = np.split(types, np.cumsum(wanted.counts)[:-1]) if wanted.size else []
    asked = {} if schedule.gpu_type is None else dict(zip(schedule.jobs.tolist(), schedule.gpu_type.tolist()))
    for row, piece in zip(wanted.jobs.tolist(), pieces):
        allowed = str(job_state.columns.gpu_types[row])
        given = {cluster_state.gpu_types[kind] for kind in piece.tolist()}
        if asked.get(row, -1) >= 0:
            allowed = cluster_state.gpu_types[asked[row]]
        if allowed and not given <= set(allowed.split("|")):
            kinds = " and ".join(sorted(given))
            raise Broken(
                f"{job_named(row, job_state)} gets {kinds} GPUs, and may use {allowed} only",
                fix="look at schedule.gpu_type and job_state.columns.gpu_types; place_by_node() does it",
                rule=rule,
            )
