"""What Pollux believes of jobs: how fast each runs on any GPUs, and how far larger batches help it.

Learnt: jobs report pass and step times and gradient statistics while they run; a throughput model is fitted
anew whenever a job reports from a configuration (nodes, replicas, atomic batch) in which it was not seen
before. Oracle: the models are those of the applications' profiles.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from blox.performance.goodput import GradientNoise, ThroughputModel
from blox.performance.goodput_batch import BatchLimits
from blox.performance.goodput_fit import Observations, fit
from blox.profiles.elastic import elastic_profiles
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.workloads.table import Array

_NEUTRAL = np.ones(7)  # stands for a model that is not read
_REPORTED = ("atomic", "pass_s", "step_s", "grad_sqr", "grad_var")


@dataclass(frozen=True)
class Believed:
    """A column per figure, a row per job: `profiled` says for which jobs model and noise mean anything."""

    model: ThroughputModel
    noise: GradientNoise
    limits: BatchLimits
    most: Array  # replicas that each may have now
    profiled: Array
    elastic: Array  # whose batch size may be chosen


@dataclass
class Learnt:
    """What has been seen of each job, by row."""

    seen: dict[int, dict[tuple[int, int, int], tuple[float, float]]] = field(default_factory=dict)
    models: dict[int, Array] = field(default_factory=dict)
    noise: dict[int, tuple[float, float]] = field(default_factory=dict)

    def look(self, rows: Array, held: Array, job_state: JobState) -> None:
        """Takes in what running jobs report; `held` is jobs x nodes."""
        gpus, nodes = held.sum(axis=1).tolist(), (held > 0).sum(axis=1).tolist()
        place = np.searchsorted(job_state.active, rows)
        told = np.stack([job_state.metric(name)[place] for name in _REPORTED], axis=1)
        for i, row in enumerate(rows.tolist()):
            if not gpus[i] or np.isnan(told[i]).any():
                continue
            atomic, pass_s, step_s, sqr, var = told[i].tolist()
            self.noise[row] = (sqr, var)
            where = (nodes[i], gpus[i], int(atomic))
            of_job = self.seen.setdefault(row, {})
            if where not in of_job:
                of_job[where] = (pass_s, step_s)
                columns = zip(*((*at, *times) for at, times in of_job.items()))
                self.models[row] = fit(Observations(*map(np.array, columns))).array()
        for row in self.seen.keys() - set(rows.tolist()):
            del self.seen[row], self.models[row], self.noise[row]


def believed(
    rows: Array, learnt: Learnt, cluster_state: ClusterState, job_state: JobState, path: str, oracle: bool
) -> Believed:
    """The columns for these jobs. A job of no known application is taken to scale perfectly in its bounds."""
    known, columns = elastic_profiles(path), job_state.columns
    total = cluster_state.total_gpus
    model, noise, limits, most, profiled, elastic = [], [], [], [], [], []
    done = np.zeros(job_state.submitted)
    done[job_state.active] = job_state.done_s()
    for row in rows.tolist():
        profile = known.get(str(columns.model[row]))
        bound = min(int(columns.max_gpus[row]), total)
        elastic.append(profile is not None)
        if profile is None:
            limits.append((1, max(total, 2), 1, max(total, 1), 1))
        else:
            fewest, top = profile.batch_range(
                int(columns.min_batch_size[row]), int(columns.max_batch_size[row])
            )
            limits.append((profile.initial_batch, top, *profile.atomic, fewest))
            bound = min(bound, top // profile.atomic[0])
        if oracle and profile is not None:
            share = min(done[row] / max(float(columns.expected_s[row]), 1e-9), 1.0)
            model.append(np.array(profile.throughput))
            noise.append((1.0, float(profile.noise_at(share))))
            profiled.append(True)
        else:
            model.append(learnt.models.get(row, _NEUTRAL))
            noise.append(learnt.noise.get(row, (1.0, 1.0)))
            profiled.append(row in learnt.models)
            largest = max((replicas for _, replicas, _ in learnt.seen.get(row, ())), default=0)
            if profile is not None:
                bound = min(bound, max(2 * largest, 1))
        most.append(max(bound, int(columns.min_gpus[row])))
    initial, largest, low, high, smallest = np.array(limits).T
    return Believed(
        ThroughputModel.of(np.array(model)),
        GradientNoise(*np.array(noise).T),
        BatchLimits(initial, largest, low, high, smallest=smallest),
        np.array(most, dtype=np.int64),
        np.array(profiled),
        np.array(elastic),
    )
