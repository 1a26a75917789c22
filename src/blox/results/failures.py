"""What failures cost: the figures of a run in which nodes or jobs fail, or in which jobs save checkpoints.

The GPU time that a job holds is of four kinds: *useful*, in which it did work that was kept; *lost*, since
the last checkpoint before a failure; and time in which it starts, or saves a checkpoint. The *effective
training time ratio* is useful over held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.failures.log import FailureLog
from blox.failures.outages import Outage
from blox.performance.overheads import Overheads
from blox.state.cluster_spec import ClusterSpec
from blox.workloads.table import Array


@dataclass(frozen=True, eq=False)
class GpuTime:
    """Of every stint on GPUs, by job and start: the job, its end, and its useful and lost GPU-seconds."""

    job: Array
    end_s: Array
    useful: Array
    lost: Array


def gpu_time(log: FailureLog, stints: Mapping[str, Array], overheads: Overheads) -> GpuTime:
    """How useful each stint was. A stint that ended in a loss is kept up to its last checkpoint."""
    job, start, end, gpus = _by_job(stints)
    jobs, starts, begin = log.begins()
    assert np.array_equal(jobs, job) and np.array_equal(starts, start)
    losses = {(each.job, each.time_s) for each in log.evictions if not each.announced}
    lossy = np.array([pair in losses for pair in zip(job.tolist(), end.tolist())], dtype=bool)
    kept_until = np.where(lossy, overheads.last_checkpoint(begin, end), end)
    useful_s = np.maximum(kept_until - begin, 0.0) * overheads.working_share
    lost_s = np.maximum(end - np.maximum(kept_until, begin), 0.0)
    return GpuTime(job, end, useful_s * gpus, lost_s * gpus)


def job_columns(log: FailureLog, spent: GpuTime, jobs: int) -> dict[str, Array]:
    """Columns of `jobs.csv`: how often each job lost its GPUs, its useful and its lost GPU-seconds."""
    evicted = np.array([each.job for each in log.evictions], dtype=np.int64)
    return {
        "evictions": np.bincount(evicted, minlength=jobs),
        "useful_gpu_seconds": np.bincount(spent.job, weights=spent.useful, minlength=jobs),
        "lost_gpu_seconds": np.bincount(spent.job, weights=spent.lost, minlength=jobs),
    }


def summarise(
    log: FailureLog, jobs: Mapping[str, Array], cluster: ClusterSpec, *, end_s: float
) -> dict[str, Any]:
    """Failures, evictions, GPU time lost and the effective training time ratio; by job size as well."""
    went_down = [each for each in log.node_events if each.state == "down" and each.time_s <= end_s]
    waited = [max(min(each.seen_s, end_s) - each.time_s, 0.0) for each in log.evictions]
    summary: dict[str, Any] = {
        "node_failures": sum(not each.announced for each in went_down),
        "node_drains": sum(each.announced for each in went_down),
        "job_failures": sum(each.node < 0 for each in log.evictions),
        "gpu_availability": _availability(log, cluster, float(jobs["submit_s"].min(initial=end_s)), end_s),
        "wait_eviction_s": float(sum(waited)),
        "evicted_jobs": int((jobs["evictions"] > 0).sum()),
    }
    summary.update(_totals(jobs, np.ones(len(jobs["gpus"]), dtype=bool), ""))
    size = size_class(jobs["gpus"])
    for most in np.unique(size).tolist():
        summary.update(_totals(jobs, size == most, f"_{most}_gpus"))
    return summary


def size_class(gpus: Array) -> Array:
    """The size of jobs as the next power of two: 1, 2, 4 (jobs of 3 or 4 GPUs), 8, ..."""
    return (2 ** np.ceil(np.log2(np.maximum(gpus, 1)))).astype(np.int64)


def tables(
    log: FailureLog, spent: GpuTime, jobs: Mapping[str, Array], cluster: ClusterSpec, *, end_s: float
) -> dict[str, dict[str, Array]]:
    """The tables of a results directory that only such runs have.

    `outages`: see outage_table(). `evictions`: which job (its row) lost its GPUs when, why, and what it lost.
    """
    lost = dict(zip(zip(spent.job.tolist(), spent.end_s.tolist()), spent.lost.tolist()))
    names = [each.name for each in cluster.nodes]
    row = np.array([each.job for each in log.evictions], dtype=np.int64)
    went = [names[each.node] if each.node >= 0 else "" for each in log.evictions]
    losses = [lost[each.job, each.time_s] for each in log.evictions]
    return {
        "outages": outage_table(log, cluster, end_s=end_s),
        "evictions": {
            "job": row,
            "job_id": jobs["job_id"][row],
            "time_s": np.array([each.time_s for each in log.evictions], dtype=np.float64),
            "cause": np.array([each.cause for each in log.evictions], dtype=object),
            "node": np.array(went, dtype=object),
            "lost_gpu_seconds": np.array(losses, dtype=np.float64),
        },
    }


def outage_table(log: FailureLog, cluster: ClusterSpec, *, end_s: float) -> dict[str, Array]:
    """When which node was down, with its first GPU and their number."""
    down = _outages(log, end_s)
    node = np.array([each.node for each in down], dtype=np.int64)
    names = np.array([each.name for each in cluster.nodes], dtype=object)
    gpus = np.array([each.gpus for each in cluster.nodes])
    return {
        "node": names[node],
        "gpu": (np.cumsum(gpus) - gpus)[node],
        "gpus": gpus[node],
        "down_s": np.array([each.down_s for each in down], dtype=np.float64),
        "up_s": np.array([each.up_s for each in down], dtype=np.float64),
        "cause": np.array(["drain" if each.announced else "failure" for each in down], dtype=object),
    }


def _outages(log: FailureLog, end_s: float) -> list[Outage]:
    """Every time that a node was down, at the latest until the end of the run."""
    found: list[Outage] = []
    open_at: dict[int, int] = {}
    for event in log.node_events:
        if event.time_s > end_s:
            break
        if event.state == "down":
            open_at[event.node] = len(found)
            found.append(Outage(event.node, event.time_s, end_s, 0.0 if event.announced else None))
        elif event.node in open_at:
            at = open_at.pop(event.node)
            found[at] = found[at]._replace(up_s=event.time_s)
    return found


def _totals(jobs: Mapping[str, Array], which: Array, suffix: str) -> dict[str, Any]:
    held, useful = (float(jobs[name][which].sum()) for name in ("gpu_seconds", "useful_gpu_seconds"))
    return {
        f"evictions{suffix}": int(jobs["evictions"][which].sum()),
        f"lost_gpu_seconds{suffix}": float(jobs["lost_gpu_seconds"][which].sum()),
        f"effective_training_ratio{suffix}": useful / held if held else None,
    }


def _availability(log: FailureLog, cluster: ClusterSpec, begin_s: float, end_s: float) -> float:
    """The part of the cluster's GPU time in which its nodes were not down."""
    gpus = [node.gpus for node in cluster.nodes]
    spans = [(gpus[each.node], each.up_s - max(each.down_s, begin_s)) for each in _outages(log, end_s)]
    down = sum(count * max(seconds, 0.0) for count, seconds in spans)
    elapsed = cluster.total_gpus * (end_s - begin_s)
    return 1.0 - down / elapsed if elapsed > 0 else 1.0


def _by_job(stints: Mapping[str, Array]) -> tuple[Array, Array, Array, Array]:
    """Stints by job and start, a row per job and not per GPU: job, start, end, GPUs."""
    order = np.lexsort((stints["start_s"], stints["job"]))
    job, start, end = (stints[name][order] for name in ("job", "start_s", "end_s"))
    new = np.ones(len(job), dtype=bool)
    new[1:] = (job[1:] != job[:-1]) | (start[1:] != start[:-1])
    first = new.nonzero()[0]
    return job[first], start[first], end[first], np.diff(np.append(first, len(job)))
