"""Speeds that Gavel learns from what jobs report (the paper's throughput estimator, Figure 14).

The kind of a job is unknown. Its duration is taken to be that on the reference GPU, so speeds are relative
to that one. What it does on other types is seen once it has run there, in the metric `steps_per_s`; until
then it is filled in by completing the matrix of all jobs and of the table's rows, the references. What
it does beside others is measured at its submission beside a few references (a profiling run that takes no
time, as in the original), and later beside the jobs it runs with; it is then taken to be like the reference
that it resembles most. Two jobs that cannot share after all run alone in the time that was meant for both.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from blox.performance.job_speeds import job_speeds
from blox.performance.model_profiles import REFERENCE
from blox.performance.throughputs import throughputs
from blox.schedulers.gavel.beliefs import Oracle
from blox.schedulers.gavel.estimator import Estimator, complete
from blox.schedulers.gavel.problem import Pairs
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array

Given = tuple[tuple[str, float], ...]  # GPU types and their speeds, as a cluster spec gives them


@dataclass
class _Seen:
    alone: dict[int, Array] = field(default_factory=dict)  # by job: speed on each type, nan where not seen
    beside: dict[int, Array] = field(default_factory=dict)  # references x types: what is kept of it
    like: dict[int, int] = field(default_factory=dict)  # the reference that a job resembles most
    news: set[int] = field(default_factory=set)  # jobs of which more is known since then

    def kept(self, job: int, other: int, types: Array, value: float) -> None:
        """What a job kept of its speed beside another one on these types (a mask)."""
        found = self.beside[job][self.like[other]]
        if np.isnan(found[types]).any():
            self.news.add(job)
        found[types] = value


@dataclass(frozen=True)
class Learnt:
    """Relative speeds learnt from metrics; `profiled` is the share of references that a job is tried with.

    With `packed` a job has the speeds of the reference that it is taken for, alone as beside others.
    """

    path: str = ""
    profiled: float = 0.2
    packed: bool = False

    def observe(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Takes in what running jobs report."""
        seen, allocation = job_state.memory(self, _Seen), cluster_state.allocation
        if not allocation.size:
            return
        types, counts = len(cluster_state.gpu_types), allocation.counts
        on = cluster_state.gpu_type[allocation.gpus[np.cumsum(counts) - counts]].tolist()
        beside = allocation.share_group
        partners = [-1] * len(on) if beside is None else beside.astype(np.int64).tolist()
        places = np.searchsorted(job_state.active, allocation.jobs)
        rates = job_state.metric("steps_per_s")[places]
        _, base = Oracle(self.path).alone(allocation.jobs, cluster_state, job_state)
        for row, type_, other, rate in zip(allocation.jobs.tolist(), on, partners, (rates / base).tolist()):
            known = seen.alone.setdefault(row, np.full(types, np.nan))
            if other < 0:
                known[type_] = rate
            elif other in seen.like and row in seen.beside and known[type_] > 0:
                seen.kept(row, other, np.arange(types) == type_, rate / known[type_])

    def alone(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array]:
        one = np.ones(len(rows))
        if self.packed:
            like = self._like(rows, cluster_state, job_state)
            relative, _ = references(self.path, *_types(cluster_state))
            return self._possible(relative[like], rows, cluster_state, job_state), one
        seen = job_state.memory(self, _Seen).alone
        types = cluster_state.gpu_types
        unseen = np.full(len(types), np.nan)
        measured = np.array([seen.get(row, unseen) for row in rows.tolist()]).reshape(-1, len(types))
        if REFERENCE in types:
            measured[:, types.index(REFERENCE)] = 1.0
        rest = np.column_stack([one, measured])
        rows_of_table = _all(self.path, *_types(cluster_state))
        table = np.column_stack([np.ones(len(rows_of_table)), rows_of_table])
        filled = complete(np.concatenate([table, rest]))[len(table) :, 1:]
        return self._possible(np.maximum(filled, 1e-3), rows, cluster_state, job_state), one

    def pairs(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Pairs:
        relative, kept = references(self.path, *_types(cluster_state))
        return Pairs(self._like(rows, cluster_state, job_state), kept * relative[:, None, :])

    def tried(self, pairs: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        """Where these pairs of jobs can share at all (pairs x types); what cannot is found out, and kept."""
        seen, known = job_state.memory(self, _Seen), job_speeds(self.path, *_types(cluster_state))
        kinds = Oracle(self.path).kinds(pairs.ravel(), cluster_state, job_state).reshape(-1, 2).tolist()
        possible = np.array([np.minimum(known.beside(a, b), known.beside(b, a)) > 0 for a, b in kinds])
        for (job, other), can in zip(pairs.tolist(), possible):
            if not can.all():
                seen.kept(job, other, ~can, 0.0)
                seen.kept(other, job, ~can, 0.0)
        return possible

    def _possible(self, speed: Array, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        """A job that does not fit a GPU's memory says so at once: where its speed is 0 is known."""
        truth, _ = Oracle(self.path).alone(rows, cluster_state, job_state)
        return np.where(truth > 0, np.maximum(speed, 1e-3), 0.0)

    def _like(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The reference that each job resembles most by what is known of it now."""
        seen = job_state.memory(self, _Seen)
        relative, kept = references(self.path, *_types(cluster_state))
        for row in rows.tolist():
            if row not in seen.beside:
                seen.beside[row] = self._profile(row, kept.shape[1:], cluster_state, job_state)
        stale = [row for row in rows.tolist() if row not in seen.like or row in seen.news]
        if stale:
            measured = np.array([seen.beside[row] for row in stale])
            like = Estimator(relative, kept * relative[:, None, :]).match(measured)
            seen.like.update(zip(stale, like.tolist()))
            seen.news.difference_update(stale)
        return np.array([seen.like[row] for row in rows.tolist()], dtype=np.int64)

    def _profile(
        self, row: int, shape: tuple[int, ...], cluster_state: ClusterState, job_state: JobState
    ) -> Array:
        """What a job keeps of its speed beside some references, drawn from the seed; nan for the others."""
        known = job_speeds(self.path, *_types(cluster_state))
        kind = int(Oracle(self.path).kinds(np.array([row]), cluster_state, job_state)[0])
        alone = np.array(known.alone(kind))
        names = _reference_names(self.path)
        seeds = np.random.SeedSequence(job_state.seed, spawn_key=(zlib.crc32(b"gavel profile"), row))
        tried = np.random.default_rng(seeds).permutation(len(names))[
            : max(1, round(self.profiled * len(names)))
        ]
        found = np.full(shape, np.nan)
        for other in tried.tolist():
            rates = np.array(known.beside(kind, known.kind(names[other], 0, 1)))
            found[other] = np.where(alone > 0, rates / np.where(alone > 0, alone, 1.0), 0.0)
        return found


def _types(cluster_state: ClusterState) -> tuple[tuple[str, ...], Given]:
    """The GPU types of a cluster, and the speeds that it gives some of them."""
    return cluster_state.gpu_types, cluster_state.spec.speeds


@lru_cache(maxsize=4)
def _reference_names(path: str) -> tuple[str, ...]:
    return tuple(name for name, gpus in throughputs(path).alone if gpus == 1)


@lru_cache(maxsize=16)
def references(path: str, gpu_types: tuple[str, ...], given: Given = ()) -> tuple[Array, Array]:
    """(speeds of single-GPU references relative to the reference GPU, what each keeps beside each)."""
    known, names = job_speeds(path, gpu_types, given), _reference_names(path)
    kinds = [known.kind(name, 0, 1) for name in names]
    alone = np.array([known.alone(kind) for kind in kinds])
    beside = np.array([[known.beside(a, b) for b in kinds] for a in kinds])
    base = np.array([known.base(kind) for kind in kinds])
    return alone / base[:, None], beside / np.where(alone > 0, alone, np.inf)[:, None, :]


@lru_cache(maxsize=16)
def _all(path: str, gpu_types: tuple[str, ...], given: Given = ()) -> Array:
    """Relative speeds of every row of the table, of any number of GPUs."""
    known = job_speeds(path, gpu_types, given)
    kinds = [known.kind(name, 0, gpus) for name, gpus in throughputs(path).alone]
    return np.array([np.array(known.alone(kind)) / known.base(kind) for kind in kinds])
