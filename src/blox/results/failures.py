"""What failures cost: the figures of a run in which nodes or jobs fail, or in which jobs save checkpoints.

The GPU time that a job holds is of four kinds: *useful*, in which it did work that was kept; *lost*, since
the last checkpoint before a failure; and time in which it starts, or saves a checkpoint. The *effective
training time ratio* is useful over held.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from blox.failures.log import FailureLog
from blox.performance.overheads import Overheads
from blox.state.cluster_spec import ClusterSpec
from blox.workloads.table import Array


def job_columns(
    log: FailureLog, stints: Mapping[str, Array], jobs: int, overheads: Overheads
) -> dict[str, Array]:
    """Columns of `jobs.csv`: how often each job was interrupted, its useful and its lost GPU-seconds."""
    job, start, end, gpus = _by_job(stints)
    begin = _begins(log, job, start)
    kept_until = np.where(_lost(log, job, end), overheads.last_checkpoint(begin, end), end)
    useful_s = np.maximum(kept_until - begin, 0.0) * overheads.working_share
    lost_s = np.maximum(end - np.maximum(kept_until, begin), 0.0)
    interrupted = np.array([each.job for each in log.interruptions], dtype=np.int64)
    return {
        "interruptions": np.bincount(interrupted, minlength=jobs),
        "useful_gpu_seconds": np.bincount(job, weights=useful_s * gpus, minlength=jobs),
        "lost_gpu_seconds": np.bincount(job, weights=lost_s * gpus, minlength=jobs),
    }


def summarise(
    log: FailureLog, jobs: Mapping[str, Array], cluster: ClusterSpec, *, end_s: float
) -> dict[str, Any]:
    """Failures, interruptions, GPU time lost and the effective training time ratio; by job size as well."""
    went_down = [each for each in log.node_events if each.state == "down" and each.time_s <= end_s]
    summary: dict[str, Any] = {
        "node_failures": sum(not each.announced for each in went_down),
        "node_drains": sum(each.announced for each in went_down),
        "job_failures": sum(each.node < 0 for each in log.interruptions),
        "interrupted_jobs": int((jobs["interruptions"] > 0).sum()),
        "gpu_availability": 1.0
        - _share_down(log, cluster, float(jobs["submit_s"].min(initial=end_s)), end_s),
        "wait_interruption_s": sum(
            max(min(each.seen_s, end_s) - each.time_s, 0.0) for each in log.interruptions
        ),
    }
    summary.update(_totals(jobs, np.ones(len(jobs["gpus"]), dtype=bool), ""))
    size = size_class(jobs["gpus"])
    for most in np.unique(size).tolist():
        summary.update(_totals(jobs, size == most, f"_{most}_gpus"))
    return summary


def size_class(gpus: Array) -> Array:
    """The size of jobs as the next power of two: 1, 2, 4 (jobs of 3 or 4 GPUs), 8, ..."""
    return (2 ** np.ceil(np.log2(np.maximum(gpus, 1)))).astype(np.int64)


def outages(log: FailureLog, end_s: float) -> dict[str, Array]:
    """A row per time that a node was down: node, from when to when (the end of the run if it stayed down)."""
    open_at: dict[int, int] = {}
    found: list[list[Any]] = []
    for event in log.node_events:
        if event.time_s > end_s:
            break
        if event.state == "down":
            open_at[event.node] = len(found)
            found.append([event.node, event.time_s, end_s, int(event.announced)])
        elif event.node in open_at:
            found[open_at.pop(event.node)][2] = event.time_s
    columns = list(zip(*found)) or [()] * 4
    return {
        "node": np.array(columns[0], dtype=np.int64),
        "down_s": np.array(columns[1], dtype=np.float64),
        "up_s": np.array(columns[2], dtype=np.float64),
        "announced": np.array(columns[3], dtype=np.int64),
    }


def interruptions(log: FailureLog) -> dict[str, Array]:
    """A row per interruption: the job's row, the time, the node that went down (-1: it failed by itself)."""
    return {
        "job": np.array([each.job for each in log.interruptions], dtype=np.int64),
        "time_s": np.array([each.time_s for each in log.interruptions], dtype=np.float64),
        "node": np.array([each.node for each in log.interruptions], dtype=np.int64),
        "announced": np.array([each.announced for each in log.interruptions], dtype=np.int64),
    }


def _totals(jobs: Mapping[str, Array], which: Array, suffix: str) -> dict[str, Any]:
    held = float(jobs["gpu_seconds"][which].sum())
    return {
        f"interruptions{suffix}": int(jobs["interruptions"][which].sum()),
        f"lost_gpu_seconds{suffix}": float(jobs["lost_gpu_seconds"][which].sum()),
        f"effective_training_ratio{suffix}": float(jobs["useful_gpu_seconds"][which].sum()) / held
        if held
        else None,
    }


def _share_down(log: FailureLog, cluster: ClusterSpec, begin_s: float, end_s: float) -> float:
    """The part of the cluster's GPU time in which its nodes were down."""
    found = outages(log, end_s)
    gpus = np.array([node.gpus for node in cluster.nodes])[found["node"]]
    down_s = np.maximum(found["up_s"] - np.maximum(found["down_s"], begin_s), 0.0)
    elapsed = cluster.total_gpus * (end_s - begin_s)
    return float((gpus * down_s).sum()) / elapsed if elapsed > 0 else 0.0


def _by_job(stints: Mapping[str, Array]) -> tuple[Array, Array, Array, Array]:
    """Stints by job and start, a row per job and not per GPU: job, start, end, GPUs."""
    order = np.lexsort((stints["start_s"], stints["job"]))
    job, start, end = (stints[name][order] for name in ("job", "start_s", "end_s"))
    new = np.ones(len(job), dtype=bool)
    new[1:] = (job[1:] != job[:-1]) | (start[1:] != start[:-1])
    first = new.nonzero()[0]
    return job[first], start[first], end[first], np.diff(np.append(first, len(job)))


def _begins(log: FailureLog, job: Array, start: Array) -> Array:
    """When each stint began to work; the log has the same stints, in the same order."""
    jobs, starts, begins = log.begins()
    assert np.array_equal(jobs, job) and np.array_equal(starts, start)
    return begins


def _lost(log: FailureLog, job: Array, end: Array) -> Array:
    """Which stints ended in a loss of work."""
    ended = {(each.job, each.time_s) for each in log.interruptions if not each.announced}
    return np.array([pair in ended for pair in zip(job.tolist(), end.tolist())], dtype=bool)
