"""The jobs of the moment as a `Problem` for Gavel's policies, by what is believed of them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from blox.errors import BloxError
from blox.schedulers.gavel.problem import Pairs, Problem
from blox.state.believed import believed_s
from blox.state.cluster import ClusterState
from blox.state.fractions import gpus_by_type
from blox.state.jobs import JobState
from blox.state.progress import done_s
from blox.workloads.table import Array

LEAST_LEFT_S = 1.0  # a job that runs is not done, whatever was believed


class Belief(Protocol):
    """What is thought of the speeds of jobs, in steps/s."""

    def alone(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array]:
        """(jobs x GPU types, each job's steps/s where it takes its duration)."""
        ...

    def pairs(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Pairs:
        """What jobs do beside one another."""
        ...


def speeds_now(
    rows: Array, belief: Belief, cluster_state: ClusterState, job_state: JobState
) -> tuple[Array, Array, Array]:
    """(rows that can run somewhere now, their speeds on every type, their steps/s at rate 1).

    A speed is 0 where a job cannot run, may not, or is too wide. A job for which all types are so, even with
    all nodes up, is refused.
    """
    speed, base = belief.alone(rows, cluster_state, job_state)
    if job_state.typed:
        speed = np.where(_permitted(rows, cluster_state, job_state), speed, 0.0)
    width = job_state.columns.gpus.take(rows)[:, None]
    now = np.where(width <= gpus_by_type(cluster_state), speed, 0.0)
    can = now.any(axis=1)
    if can.all():
        return rows, now, base
    ever = (speed > 0) & (width <= np.bincount(cluster_state.gpu_type, minlength=speed.shape[1]))
    if not ever.any(axis=1).all():
        place = int((~ever.any(axis=1)).argmax())
        raise _homeless(int(rows[place]), speed[place], cluster_state, job_state)
    return rows[can], now[can], base[can]


def problem_of(
    rows: Array,
    speed: Array,
    base: Array,
    cluster_state: ClusterState,
    job_state: JobState,
    *,
    pairs: Pairs | None = None,
    entity: Array | None = None,
) -> Problem:
    """The problem of these jobs. Weights are their priorities; a deadline that is past binds no more."""
    columns, now = job_state.columns, job_state.now
    left_s = np.maximum(believed_s(job_state, rows) - done_s(job_state, rows, now), LEAST_LEFT_S)
    priority = columns.priority.take(rows)
    slo_s = columns.deadline_s.take(rows) - now
    return Problem(
        cluster_state.gpu_types,
        gpus_by_type(cluster_state),
        speed,
        jobs=rows,
        width=columns.gpus.take(rows).astype(np.float64),
        weight=np.where(priority > 0, priority, 1).astype(np.float64),
        remaining_steps=left_s * base,
        elapsed_s=now - columns.submit_s.take(rows),
        slo_s=np.where(slo_s > 0, slo_s, np.inf),
        entity=np.zeros(len(rows), dtype=np.int64) if entity is None else entity,
        pairs=None if pairs is None else _together(pairs, speed > 0),
    )


def _together(pairs: Pairs, usable: Array) -> Pairs:
    """The same, where two jobs share GPUs only of types that each can use alone (`usable`: jobs x types)."""
    if usable.all():
        return pairs
    kinds, kind = np.unique(np.column_stack((pairs.kind, usable)), axis=0, return_inverse=True)
    known, can = kinds[:, 0], kinds[:, 1:].astype(bool)
    throughput = pairs.throughput[np.ix_(known, known)] * (can[:, None] & can[None])
    return Pairs(kind.reshape(-1), throughput)


def _permitted(rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
    """Where the jobs themselves say that they may run (jobs x types)."""
    may = np.ones((len(rows), len(cluster_state.gpu_types)), dtype=bool)
    for place, text in enumerate(job_state.columns.gpu_types[rows].tolist()):
        if text:
            may[place] = np.isin(cluster_state.gpu_types, text.split("|"))
    return may


def _homeless(row: int, speed: Array, cluster_state: ClusterState, job_state: JobState) -> BloxError:
    columns = job_state.columns
    gpus = np.bincount(cluster_state.gpu_type, minlength=len(speed)).tolist()
    types = ", ".join(
        f"{count} {name}" + ("" if rate > 0 else " (it cannot run there)")
        for name, count, rate in zip(cluster_state.gpu_types, gpus, speed.tolist())
    )
    return BloxError(
        f"job {columns.job_id[row]!r} takes {int(columns.gpus[row])} GPUs of one type, and there are {types}",
        where="scheduling 'gavel'",
        fix="leave it out (max_gpus=N), give it fewer GPUs, or add GPUs of a type it can run on",
    )
