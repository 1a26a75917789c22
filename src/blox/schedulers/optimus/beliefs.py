"""What Optimus believes of jobs: how long a step takes with so many replicas, and how much is still to do.

Oracle: step times of the applications' profiles, packed on nodes. Learnt: jobs report the time of an
iteration; a job that was seen with one number of GPUs is taken to scale perfectly, with more a speed model is
fitted by non-negative least squares, and what was measured counts as measured. Where jobs report their loss,
how much is left follows from its curve.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from blox.performance.elastic import batch_asked_for, limits_of
from blox.performance.goodput import ThroughputModel
from blox.performance.goodput_batch import split_batch
from blox.profiles.elastic import elastic_profiles
from blox.schedulers.optimus.convergence import FEWEST_POINTS, epochs_left
from blox.schedulers.optimus.speed import Synchronous, fit_replicas, fit_synchronous
from blox.state.believed import believed_left_s
from blox.state.jobs import JobState
from blox.workloads.table import Array


@dataclass
class Learnt:
    """Iteration times by number of GPUs, and by servers and workers; losses by epoch; of each job by row."""

    iteration_s: dict[int, dict[int, float]] = field(default_factory=dict)
    losses: dict[int, dict[float, tuple[float, float]]] = field(default_factory=dict)  # and work done by then
    with_servers: dict[int, dict[tuple[int, int], float]] = field(default_factory=dict)

    def look(self, job_state: JobState, servers: Mapping[int, int] | None = None) -> None:
        """Takes in what jobs report: iteration_s, and loss with epoch where they do."""
        held, done = job_state.held_gpus.tolist(), job_state.done_s().tolist()
        seconds, epoch, loss = (job_state.metric(name).tolist() for name in ("iteration_s", "epoch", "loss"))
        for i, row in enumerate(job_state.active.tolist()):
            if held[i] and seconds[i] == seconds[i]:
                self.iteration_s.setdefault(row, {})[held[i]] = seconds[i]
                if servers and servers.get(row):
                    self.with_servers.setdefault(row, {})[servers[row], held[i]] = seconds[i]
            if loss[i] == loss[i] and epoch[i] == epoch[i]:
                self.losses.setdefault(row, {}).setdefault(epoch[i], (loss[i], done[i]))
        active = set(job_state.active.tolist())
        for known in (self.iteration_s, self.losses, self.with_servers):
            for row in known.keys() - active:
                del known[row]

    def trust(self, row: int, young: float) -> float:
        """`young` as long as a job was not seen with three numbers of GPUs."""
        return 1.0 if len(self.iteration_s.get(row, ())) >= FEWEST_POINTS else young


def remaining_s(job_state: JobState, learnt: Learnt | None) -> Array:
    """Isolated run time still to go: as believed, or where losses are reported, as their curve says."""
    left = believed_left_s(job_state)
    if learnt is not None and learnt.losses:
        done = job_state.done_s()
        for i, row in enumerate(job_state.active.tolist()):
            told = learnt.losses.get(row, {})
            if len(told) >= FEWEST_POINTS and max(told) > 0:
                epoch = np.array(sorted(told))
                loss, by_then = np.array([told[each] for each in epoch.tolist()]).T
                ahead = epochs_left(epoch, loss)
                left[i] = by_then[-1] * (1 + ahead / epoch[-1]) - done[i]
    return np.maximum(left, 1e-6)


def step_table(job_state: JobState, learnt: Learnt | None, node_gpus: int, most: int, path: str) -> Array:
    """Time of a step with 1, 2, ... `most` replicas over that with the GPUs asked for: jobs x replicas."""
    table = np.empty((len(job_state.active), most))
    if learnt is None:
        for i, job in enumerate(_requests(job_state)):
            table[i] = _packed(path, job, node_gpus, most)
    else:
        for i, (row, gpus) in enumerate(zip(job_state.active.tolist(), job_state.gpus.tolist())):
            seen = learnt.iteration_s.get(row, {})
            table[i] = _measured(tuple(sorted(seen.items())), gpus, most)
    return table


def most_replicas(job_state: JobState, node_gpus: int, path: str) -> Array:
    """GPUs that each job can use: its batch, which stays, must give each the smallest share it can work on.

    That is how the Pollux artifact bounds Optimus's jobs too.
    """
    columns, rows = job_state.columns, job_state.active
    by_batch = [_smallest_shares(path, job, node_gpus) for job in _requests(job_state)]
    most: Array = np.minimum(columns.max_gpus[rows], by_batch)
    return np.maximum(most, np.maximum(columns.min_gpus[rows], 1))


class _Request(NamedTuple):
    """What a job asks for, as far as its speed depends on it."""

    model: str
    gpus: int
    batch_size: int
    min_batch_size: int
    max_batch_size: int


def _requests(job_state: JobState) -> Iterator[_Request]:
    """What each active job asks for."""
    return map(_Request, *(job_state.column(name).tolist() for name in _Request._fields))


@lru_cache(maxsize=4096)
def _packed(path: str, job: _Request, node_gpus: int, most: int) -> Array:
    """From the profile, at the batch size asked for; in proportion to GPUs where there is none."""
    profile, counts = elastic_profiles(path).get(job.model), np.append(np.arange(1, most + 1), job.gpus)
    if profile is None:
        return np.asarray(job.gpus / counts[:-1])
    limits = limits_of(profile, job.min_batch_size, job.max_batch_size)
    total = batch_asked_for(profile, job.gpus, job.batch_size, node_gpus, limits)
    atomic, accumulation = split_batch(total, counts, limits)
    seconds = ThroughputModel(*profile.throughput).iteration_s(
        -(-counts // node_gpus), counts, np.maximum(atomic, 1), accumulation
    )
    found: Array = seconds[:-1] / seconds[-1]
    found.flags.writeable = False
    return found


@lru_cache(maxsize=4096)
def _smallest_shares(path: str, job: _Request, node_gpus: int) -> int:
    """Into how many of the smallest shares that a GPU can work on the batch asked for can be divided."""
    profile = elastic_profiles(path).get(job.model)
    if profile is None:
        return sys.maxsize
    limits = limits_of(profile, job.min_batch_size, job.max_batch_size)
    return batch_asked_for(profile, job.gpus, job.batch_size, node_gpus, limits) // profile.atomic[0]


@lru_cache(maxsize=4096)
def _measured(seen: tuple[tuple[int, float], ...], gpus: int, most: int) -> Array:
    """From iteration times by number of GPUs."""
    counts = np.append(np.arange(1, most + 1), gpus)
    if len(seen) < 2:
        return np.asarray(gpus / counts[:-1])
    replicas, times = np.array(seen).T
    # A fit to few points may say that a step takes no time at all.
    seconds = np.maximum(fit_replicas(replicas, 1 / times).step_s(counts), 1e-3 * times.min())
    for each, time_s in seen:
        seconds[counts == each] = time_s
    return np.asarray(seconds[:-1] / seconds[-1])


@dataclass(frozen=True)
class Sampled:
    """A speed model fitted to iteration times by (servers, workers); what was measured counts as measured."""

    model: Synchronous
    measured: Mapping[tuple[int, int], float]

    def step_s(self, servers: Array | float, workers: Array | float) -> Array:
        """Seconds per step with one number of servers and of workers."""
        seen = self.measured.get((int(servers), int(workers)))
        if seen is not None:
            return np.asarray(seen)
        return np.maximum(self.model.step_s(servers, workers), 1e-3 * min(self.measured.values()))


def sampled(learnt: Learnt, row: int, gpus: int) -> Sampled | None:
    """A job's speed relative to that with one server and the GPUs asked for; None: too few samples."""
    seen = learnt.with_servers.get(row, {})
    if len(seen) < FEWEST_POINTS:
        return None
    servers, workers = np.array(list(seen)).T
    # The batch only scales a coefficient, which is fitted.
    fitted = fit_synchronous(servers, workers, 1 / np.array(list(seen.values())), 1.0)
    unit = float(Sampled(fitted, seen).step_s(1, gpus))
    model = Synchronous(tuple(theta / unit for theta in fitted.theta), 1.0)
    return Sampled(model, {at: each / unit for at, each in seen.items()})
