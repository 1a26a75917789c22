"""What is kept of a run: figures of all jobs, and by size, tenant and job length, in groups fixed ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from blox.results.result import Result
from blox.workloads.table import Array

SIZES = ((1, "1 GPU"), (4, "2 to 4 GPUs"), (8, "5 to 8 GPUs"), (16, "9 to 16 GPUs"), (64, "17 to 64 GPUs"))
LARGEST = "over 64 GPUs"
LENGTHS = (
    *((600.0, "under 10 min"), (3600.0, "10 min to 1 h"), (6 * 3600.0, "1 to 6 h")),
    (86400.0, "6 h to 1 d"),
)
LONGEST = "over a day"
OTHERS = "all others"
MOST_TENANTS = 8
SHORT_S = 600.0  # a job shorter than this counts as one of this length in its slowdown: bounded slowdown


class Key(NamedTuple):
    """A figure of a group of jobs."""

    by: str  # all, size, tenant or length
    group: str
    figure: str


def largest_tenants(tenant: Array, gpu_seconds: Array) -> tuple[str, ...]:
    """The tenants with the most GPU time; the others are one group."""
    names, of = np.unique(tenant.astype(str), return_inverse=True)
    spent = np.bincount(of, gpu_seconds)
    order = np.argsort(-spent, kind="stable")
    return tuple(str(names[at]) for at in order[:MOST_TENANTS].tolist() if names[at])


def digest(result: Result, tenants: tuple[str, ...]) -> dict[str, Any]:
    """`figures`: Key -> number, nan where a group has no job that has it."""
    jobs = result.jobs
    found: dict[Key, float] = {}
    for by, name, rows in _groups(jobs, tenants):
        for figure, value in _figures(jobs, rows).items():
            found[Key(by, name, figure)] = value
    return {"figures": found}


def _groups(jobs: Any, tenants: tuple[str, ...]) -> Iterator[tuple[str, str, Array]]:
    everyone = np.arange(len(jobs["gpus"]))
    yield "all", "all jobs", everyone
    for by, named in (
        ("size", _classed(jobs["gpus"], SIZES, LARGEST)),
        ("tenant", lambda at: str(jobs["tenant"][at]) if jobs["tenant"][at] in tenants else OTHERS),
        ("length", _classed(jobs["duration_s"], LENGTHS, LONGEST)),
    ):
        names = np.array([named(at) for at in everyone.tolist()], dtype=object)
        for name in dict.fromkeys(names.tolist()):
            yield by, str(name), (names == name).nonzero()[0]


def _classed(values: Array, limits: Any, last: str) -> Callable[[int], str]:
    edges = np.array([limit for limit, _ in limits], dtype=np.float64)
    side = "left" if limits is SIZES else "right"
    place = edges.searchsorted(values, side=side)  # type: ignore[call-overload]
    names = [*(name for _, name in limits), last]
    return lambda at: str(names[place[at]])


def _figures(jobs: Any, rows: Array) -> dict[str, float]:
    waited, jct = jobs["waited_s"][rows], jobs["jct_s"][rows]
    length = np.maximum(jobs["duration_s"][rows], SHORT_S)
    finished = ~np.isnan(jct)
    slowdown = np.maximum((waited + jobs["duration_s"][rows]) / length, 1.0)
    stopped = jobs["preemptions"][rows] + jobs["moves"][rows]
    return {
        "jobs": float(len(rows)),
        "waited_s": float(waited.mean()),
        "p95_waited_s": float(np.percentile(waited, 95)),
        "jct_s": float(jct[finished].mean()) if finished.any() else float("nan"),
        "slowdown": float(slowdown.mean()),
        "interruptions": float(stopped.mean()),
    }
