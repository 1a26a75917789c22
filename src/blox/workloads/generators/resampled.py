"""A trace drawn again, block by block: other weeks of the same kind, for intervals around one log."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from blox.durations import DAY, Seconds
from blox.errors import BloxError
from blox.optional import declared
from blox.registry import register
from blox.workloads.columns import WITH_SUBMISSION
from blox.workloads.extra import texts
from blox.workloads.table import Array, JobTable, Workload
from blox.workloads.trace import Trace

WEEK = Seconds(7 * DAY)


@register.workload("resampled")
@dataclass(frozen=True)
class Resampled:
    """Blocks of a trace, as many as it has, drawn with replacement by the seed and put one behind the other.

    `of` is the spec of the trace with `;` for `,`: `resampled:of=slurm:sacct.txt,block=7d`. Blocks of `block`
    from the first submission on keep what belongs together: the course of a week, a backlog of some days. A
    job keeps its time within its block, and its limit, its deadline and its logged start their distance from
    its submission. The last block, if shorter, is put together with the one before. What was waiting where
    two blocks meet was never there together: the longer the blocks, the less that matters.
    """

    of: str
    block: Seconds = WEEK

    endless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 1 <= self.block < math.inf:
            raise BloxError(f"block is {self.block!r}", fix="block must be a time: 7d")

    @property
    def default_performance(self) -> str:
        return str(declared(self._source, "default_performance"))

    @property
    def largest_gpus(self) -> int:
        """The most GPUs that a job of the trace asks for."""
        return int(self.trace.columns["gpus"].max())

    @property
    def trace(self) -> JobTable:
        """The jobs that are drawn from."""
        table: JobTable | None = declared(self._source, "table")
        if table is None:
            raise BloxError(
                f"{self.of!r} is a generator, which draws other jobs for every seed by itself",
                where="resampled",
                fix="give a trace: of=slurm:sacct.txt",
            )
        return table

    def files(self) -> list[Path]:
        """The files that the jobs come from."""
        return list(self._source.files())

    def batches(self, rng: np.random.Generator) -> Iterator[JobTable]:
        yield joined(self.trace, blocks_of(self.trace, self.block), self.block, rng)

    @cached_property
    def _source(self) -> Any:
        from blox.workloads.spec import workload_from_spec

        spec = self.of.replace(";", ",")
        source: Any = workload_from_spec(spec)
        files = source.files() if isinstance(source, Trace) else []
        return _read_once(spec, tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files))


@lru_cache(maxsize=2)
def _read_once(spec: str, stamps: tuple[tuple[int, int], ...]) -> Workload:
    """The trace of a spec: a process that draws it for many seeds reads it once, until its files change."""
    from blox.workloads.spec import workload_from_spec

    return workload_from_spec(spec)


def blocks_of(table: JobTable, block_s: float) -> list[Array]:
    """The rows of each block of a trace, in order; a short end belongs to the block before."""
    submit = table.columns["submit_s"]
    span = float(submit[-1] - submit[0])
    count = max(math.floor(span / block_s), 1)
    number = np.minimum((submit - submit[0]) // block_s, count - 1)
    edges = number.searchsorted(np.arange(count + 1))
    return [np.arange(begin, end) for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist())]


def joined(table: JobTable, blocks: list[Array], block_s: float, rng: np.random.Generator) -> JobTable:
    """So many blocks as there are, drawn with replacement, one behind the other."""
    drawn = rng.integers(0, len(blocks), len(blocks))
    submit = table.columns["submit_s"]
    lengths = np.full(len(blocks), block_s)
    lengths[-1] = max(float(submit[-1] - submit[0]) - block_s * (len(blocks) - 1), block_s)
    begins = np.concatenate(([0.0], lengths[drawn].cumsum()))
    rows = np.concatenate([blocks[number] for number in drawn])
    copy = np.repeat(np.arange(len(drawn)), [len(blocks[number]) for number in drawn])
    origin = submit[0] + block_s * drawn[copy]
    found = table.take(rows)
    moved = begins[copy] - origin
    columns = dict(found.columns)
    columns["submit_s"] = columns["submit_s"] + moved
    for name in WITH_SUBMISSION:
        if name in columns:  # by rounding it might come before the submission
            columns[name] = np.maximum(columns[name] + moved, columns["submit_s"])
    names = zip(columns["job_id"].tolist(), copy.tolist())
    columns["job_id"] = texts([f"{job} of block {at + 1}" for job, at in names])
    return replace(found, columns=columns, lines=None, source=f"{table.source}, resampled")
