"""Speedups: how much faster than on its fair share a job learns on any number of GPUs."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeVar

import numpy as np

from blox.performance.goodput import GradientNoise, ThroughputModel
from blox.performance.goodput_batch import BatchLimits, best_batch
from blox.workloads.table import Array

Part = TypeVar("Part", ThroughputModel, GradientNoise, BatchLimits)
ONE_NODE, SEVERAL_NODES = 0, 1  # the second axis of a table of speedups
_AT_ONCE = 2048


def fair_share(total_gpus: int, jobs: int) -> int:
    """GPUs per job if all had equally many, rounded up."""
    return -(-total_gpus // max(jobs, 1))


def speedup_table(
    model: ThroughputModel,
    noise: GradientNoise,
    limits: BatchLimits,
    most: Array,
    *,
    total_gpus: int,
    node_gpus: int,
    profiled: Array | None = None,
) -> Array:
    """Speedups of every job: jobs x 2 (on one node, on several) x replicas from 0 to the largest of `most`.

    `model`, `noise` and `limits` hold a column per parameter. A speedup is the best goodput relative to that
    on the job's fair share, reckoned as if on one node; 0 beyond the job's `most` replicas, for 0 replicas,
    and where no batch size is allowed. A job that is not `profiled` yet is taken to scale perfectly.
    Departs from the artifact where a fair share is more than a job can use at its smallest batch per GPU: the
    artifact then divides by zero, here the base is the most that the job can use.
    """
    most = np.minimum(np.asarray(most, dtype=np.int64), total_gpus)
    jobs, largest = len(most), int(most.max(initial=0))
    fair = fair_share(total_gpus, jobs)
    table = np.zeros((jobs, 2, largest + 1))
    known = np.ones(jobs, dtype=bool) if profiled is None else np.asarray(profiled, dtype=bool)
    counts = np.arange(largest + 1)
    wanted = np.zeros(table.shape, dtype=bool)
    wanted[:, ONE_NODE] = (counts >= 1) & (counts <= min(node_gpus, largest)) & (counts <= most[:, None])
    wanted[:, SEVERAL_NODES] = (counts >= 2) & (counts <= most[:, None])
    table[~known] = np.where(wanted[~known], counts / fair, 0.0)
    job, kind, replicas = np.nonzero(wanted & known[:, None, None])
    learning = np.flatnonzero(known)
    if not len(learning):
        return table
    usable = np.broadcast_to(np.asarray(limits.largest) // np.asarray(limits.smallest_atomic), jobs)[learning]
    base = np.minimum(fair, np.maximum(usable, 1))
    # One expression for the bases and all entries of the table, a few thousand at a time to stay in cache.
    job_of = np.concatenate([learning, job])
    nodes = np.concatenate([np.ones_like(base), kind + 1])
    counts = np.concatenate([base, replicas])
    found = np.empty(len(job_of))
    for first in range(0, len(job_of), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        rows = job_of[part]
        found[part] = best_batch(
            _rows(model, rows), _rows(noise, rows), _rows(limits, rows), nodes[part], counts[part]
        ).goodput
    bases = np.zeros(jobs)
    bases[learning] = found[: len(learning)]
    reached = bases[job] > 0
    table[job, kind, replicas] = np.where(
        reached, found[len(learning) :] / np.where(reached, bases[job], 1), 0
    )
    return table


def _rows(part: Part, rows: Array) -> Part:
    """The parameters of the jobs `rows`; single numbers stay."""
    columns = {each.name: getattr(part, each.name) for each in fields(part)}
    return replace(part, **{name: np.asarray(v)[rows] for name, v in columns.items() if np.ndim(v)})
