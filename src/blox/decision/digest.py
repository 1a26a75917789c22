"""What is kept of a run: figures of all jobs, and by size, tenant, length and time, in groups fixed ahead."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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

    by: str  # all, size, tenant, length or time
    group: str
    figure: str


def largest_tenants(tenant: Array, gpu_seconds: Array) -> tuple[str, ...]:
    """The tenants with the most GPU time; the others are one group."""
    names, of = np.unique(tenant.astype(str), return_inverse=True)
    spent = np.bincount(of, gpu_seconds)
    order = np.argsort(-spent, kind="stable")
    return tuple(str(names[at]) for at in order[:MOST_TENANTS].tolist() if names[at])


@dataclass(frozen=True)
class Grouping:
    """What the groups of a study are: its tenants, and the blocks of its log by time of submission."""

    tenants: tuple[str, ...]
    block_s: float
    blocks: int

    def of(self, jobs: Any) -> Iterator[tuple[str, str, Array]]:
        """Every group that has jobs: its kind, its name, its rows."""
        if not len(jobs["gpus"]):  # of a log with gaps, a resample may have drawn nothing else
            return
        yield "all", "all jobs", np.arange(len(jobs["gpus"]))
        sizes, lengths = (np.array([limit for limit, _ in limits]) for limits in (SIZES, LENGTHS))
        number = {name: at for at, name in enumerate(self.tenants)}
        others = len(number)
        tenant = [number.get(name, others) for name in jobs["tenant"].tolist()]
        submit = jobs["submit_s"]
        block = np.minimum((submit - submit.min()) // self.block_s, self.blocks - 1)
        for by, place, names in (
            ("size", sizes.searchsorted(jobs["gpus"]), [*(name for _, name in SIZES), LARGEST]),
            ("tenant", np.array(tenant, dtype=np.int64), [*self.tenants, OTHERS]),
            (
                "length",
                lengths.searchsorted(jobs["duration_s"], side="right"),
                [*(name for _, name in LENGTHS), LONGEST],
            ),
            ("time", block.astype(np.int64), self._times),
        ):
            for at, name in enumerate(names):
                if len(rows := np.flatnonzero(place == at)):
                    yield by, name, rows

    @property
    def _times(self) -> Sequence[str]:
        """The blocks by their days, or by their hours where they are shorter."""
        unit, length = ("day", 86400.0) if self.block_s >= 86400 else ("hour", 3600.0)
        edges = [round(self.block_s * at / length) for at in range(self.blocks + 1)]
        return [
            f"{unit} {begin + 1}" if end == begin + 1 else f"{unit}s {begin + 1} to {end}"
            for begin, end in itertools.pairwise(edges)
        ]


def digest(result: Result, grouping: Grouping, columns: Sequence[str] = ()) -> dict[str, Any]:
    """`figures`: Key -> number, nan where a group has no job that has it; `jobs`: these columns."""
    jobs = result.jobs
    found: dict[Key, float] = {}
    for by, name, rows in grouping.of(jobs):
        for figure, value in _figures(jobs, rows).items():
            found[Key(by, name, figure)] = value
    return {"figures": found, "jobs": {name: jobs[name] for name in columns}}


def _figures(jobs: Any, rows: Array) -> dict[str, float]:
    waited, jct = jobs["waited_s"][rows], jobs["jct_s"][rows]
    length = np.maximum(jobs["duration_s"][rows], SHORT_S)
    finished = ~np.isnan(jct)
    slowdown = np.maximum((waited + jobs["duration_s"][rows]) / length, 1.0)
    stopped = jobs["preemptions"][rows] + jobs["moves"][rows]
    return {
        "jobs": float(len(rows)),
        "finished": float(finished.sum()),
        "waited_s": float(waited.mean()),
        "p95_waited_s": float(np.percentile(waited, 95)),
        "jct_s": float(jct[finished].mean()) if finished.any() else float("nan"),
        "slowdown": float(slowdown.mean()),
        "interruptions": float(stopped.mean()),
    }
