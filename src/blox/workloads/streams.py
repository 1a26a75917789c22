"""Endless streams of jobs, ordered by submission: steady Poisson arrivals, jobs in windows that repeat, and
the merge of several streams into one. A stream yields columns without ids; `numbered` makes tables of it.

What a stream draws per batch is fixed by its parameters alone, so the jobs for a seed do not depend on how
many are taken. Times are kept to the millisecond: processors that differ in the last bit of a logarithm
still give the same jobs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from blox.workloads.table import Array, JobTable

BATCH = 4096  # jobs drawn at a time: large enough that numpy's overhead per call vanishes

Columns = dict[str, Array]
Draw = Callable[[int], Columns]  # so many jobs, every column but job_id and submit_s


def steady(draw: Draw, per_hour: float, rng: np.random.Generator) -> Iterator[Columns]:
    """Poisson arrivals at `per_hour` jobs/hour, from time 0 on."""
    now = 0.0
    while True:
        submit = now + np.cumsum(rng.standard_exponential(BATCH)) * (3600 / per_hour)
        now = float(submit[-1])
        yield draw(BATCH) | {"submit_s": _milliseconds(submit)}


def windows(
    draw: Draw, counts: Callable[[int], Array], mean: float, rng: np.random.Generator, *, first_s: float,
    every_s: float, length_s: float,
) -> Iterator[Columns]:  # fmt: skip
    """Jobs at uniform times in windows of `length_s` that begin at `first_s` and every `every_s` after.

    `counts(n)` gives the jobs of each of the next n windows, `mean` on average. Windows do not overlap.
    """
    chunk = int(max(1, BATCH // max(mean, 1)))  # windows drawn at a time
    for start in itertools.count(0, chunk):
        jobs = counts(chunk)
        begin = np.repeat(first_s + every_s * np.arange(start, start + chunk), jobs)
        submit = np.sort(begin + length_s * rng.random(len(begin)))
        yield draw(len(submit)) | {"submit_s": _milliseconds(submit)}


def merged(streams: Sequence[Iterator[Columns]]) -> Iterator[Columns]:
    """One stream of several endless ones; of jobs submitted at the same time, earlier streams go first."""
    if len(streams) == 1:
        yield from streams[0]
        return
    heads = [_next_jobs(stream) for stream in streams]
    while True:
        # up to the earliest end among the heads nothing more can come from any stream
        horizon = min(head["submit_s"][-1] for head in heads)
        pieces = []
        for i, head in enumerate(heads):
            ready = int(np.searchsorted(head["submit_s"], horizon, side="right"))
            pieces.append({name: column[:ready] for name, column in head.items()})
            whole = ready == len(head["submit_s"])
            heads[i] = _next_jobs(streams[i]) if whole else {n: c[ready:] for n, c in head.items()}
        joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
        order = np.argsort(joined["submit_s"], kind="stable")
        yield {name: column[order] for name, column in joined.items()}


def numbered(stream: Iterator[Columns], jobs: int | None, source: str) -> Iterator[JobTable]:
    """Job tables with the ids 0, 1, ...: exactly `jobs` jobs, or without end."""
    given = 0
    for columns in stream:
        count = len(columns["submit_s"])
        if jobs is not None and given + count > jobs:
            count = jobs - given
            columns = {name: column[:count] for name, column in columns.items()}
        if count:
            yield JobTable({"job_id": np.arange(given, given + count), **columns}, source)
        given += count
        if given == jobs:
            return


def _next_jobs(stream: Iterator[Columns]) -> Columns:
    """The next columns that hold any job."""
    return next(columns for columns in stream if len(columns["submit_s"]))


def _milliseconds(seconds: Array) -> Array:
    """Down to the millisecond, so that a job stays in its window; order is kept."""
    kept: Array = np.floor(seconds * 1000) / 1000
    return kept
