"""The truth about elastic jobs: how fast a job learns, by its GPUs, its batch size and its stage of training.

A job's work stays what its duration says: seconds on the GPUs it asks for, packed, at the batch size it asks
for. On other GPUs or with another batch it goes faster or slower by the ratio of goodputs, which changes as
gradients become noisier. Models and figures: `goodput` and `profiles/elastic.toml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from blox.backends.elastic import ElasticSimulation, Stages
from blox.errors import BloxError, suggestion
from blox.performance.goodput import GradientNoise, ThroughputModel
from blox.performance.goodput_batch import BatchLimits, best_batch, split_batch
from blox.profiles.batch_sizes import check_batch_sizes
from blox.profiles.elastic import ElasticProfile, elastic_profiles
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array, JobTable

STAGES = 10  # equal parts of a job's progress in which the noise of its gradients is constant
_NAMED = 5  # unknown models that are told by name
_TIMES = ("atomic", "accumulation", "pass_s", "step_s", "iteration_s")
REPORTS = (*_TIMES, "grad_sqr", "grad_var", "epoch", "loss")
# Every job's loss falls like 1 / k, as Optimus takes it to: from 1 towards a tenth, and for ten epochs in a
# row by less than 0.005 when the job is done, at epoch 50. (An epoch is a fiftieth of a job's progress.)
EPOCHS = 50
LOSS = (0.0556, 1 / 0.9, 0.1)  # b0, b1, b2 of blox.schedulers.optimus.convergence


@register.performance("goodput")
@dataclass(frozen=True)
class Goodput:
    """Elastic jobs run as fast as their goodput model says for their GPUs, nodes and batch size.

    A job is elastic if its `model` is an application of `profiles` (a TOML file in the form of
    `profiles/elastic.toml`, which is used where none is given). On what it asks for, packed, it runs at the
    speed that its duration implies; `schedule.config` sets its total batch size, otherwise it keeps that of
    the workload, or the best for what it asks for. Both must be sizes that the application and the job's own
    min_batch_size and max_batch_size allow. While it runs it reports atomic, accumulation, pass_s,
    step_s, iteration_s, grad_sqr and grad_var, and at every tenth of its way epoch and loss (of a made-up
    curve). Other jobs run at the speed of their duration, in proportion to their GPUs.
    """

    profiles: str = ""

    simulation: ClassVar[type[ElasticSimulation]] = ElasticSimulation
    by_gpu_type: ClassVar[bool] = False
    reports: ClassVar[tuple[str, ...]] = REPORTS

    def __post_init__(self) -> None:
        elastic_profiles(self.profiles)

    def check_jobs(self, jobs: JobTable) -> None:
        """Refuses jobs with batch sizes that their applications do not allow, naming their lines."""
        check_batch_sizes(jobs, elastic_profiles(self.profiles))

    def unknown_models(self, job_state: JobState) -> str:
        """The models of jobs that can be resized but are of no known application, in words; or nothing."""
        known, columns = elastic_profiles(self.profiles), job_state.columns
        able = (columns.min_gpus < columns.max_gpus)[: job_state.submitted]
        names = {str(name) for name in columns.model[: job_state.submitted][able].tolist()} - {*known}
        told = []
        for name in sorted(names):
            near = suggestion(name, known).partition("valid: ")[0].strip()
            told.append(f"{name!r}{f' ({near})' if near else ''}" if name else "none given")
        more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
        return ", ".join(told[:_NAMED]) + more

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The rates in the stage that each job is in."""
        known = job_state.columns.expected_s.take(grants.jobs)
        found = self.stages(grants, known, cluster_state, job_state)
        done = job_state.columns.done0.take(grants.jobs)
        return np.array([stages.rates[stages.stage_at(at)] for stages, at in zip(found, done.tolist())])

    def stages(
        self, grants: Allocation, work_s: Array, cluster_state: ClusterState, job_state: JobState
    ) -> list[Stages]:
        """The stages of every job, from the first on."""
        known, columns = elastic_profiles(self.profiles), job_state.columns
        counts = grants.counts.tolist()
        nodes = nodes_of(grants, cluster_state)
        largest = int(cluster_state.node_gpus.max())
        configs = [-1.0] * len(counts) if grants.config is None else grants.config.tolist()
        found = []
        for i, row in enumerate(grants.jobs.tolist()):
            gpus, work = columns.gpus.item(row), work_s.item(i)
            profile = known.get(str(columns.model[row]))
            if profile is None:
                found.append(Stages(np.array([work]), np.array([counts[i] / gpus]), {}))
                continue
            limits = limits_of_job(profile, job_state, row)
            asked = batch_asked_for(profile, gpus, columns.batch_size.item(row), largest, limits)
            batch = _set_batch(configs[i], limits, job_state, row) if configs[i] > 0 else asked
            fair = _running(profile, gpus, -(-gpus // largest), asked, limits)
            here = _running(profile, counts[i], 1 if cluster_state.one_pool else nodes[i], batch, limits)
            shares = fair.shares
            found.append(
                Stages(
                    work * np.cumsum(shares) / shares.sum(),
                    here.gain / here.iteration_s * shares,
                    here.reports,
                )
            )
        return found


@dataclass(frozen=True)
class _Running:
    """A job at work: seconds per iteration, and what an iteration is worth in each stage."""

    iteration_s: float
    gain: Array
    noise: Array
    atomic: int
    accumulation: int
    pass_s: float
    step_s: float

    @cached_property
    def shares(self) -> Array:
        """Of the work of a job that runs so, what each stage has, before it is scaled."""
        return np.asarray(self.iteration_s / self.gain)

    @cached_property
    def reports(self) -> dict[str, Array]:
        """A value per stage under each of REPORTS."""
        constant = (self.atomic, self.accumulation, self.pass_s, self.step_s, self.iteration_s, 1.0)
        columns: list[Array] = [np.full(STAGES, float(value)) for value in constant]
        epoch = EPOCHS * np.arange(STAGES) / STAGES
        loss = 1 / (LOSS[0] * epoch + LOSS[1]) + LOSS[2]
        return dict(zip(REPORTS, [*columns, self.noise, epoch, loss]))


def nodes_of(grants: Allocation, cluster_state: ClusterState) -> list[int]:
    """On how many nodes each job stands."""
    node_of, ends = cluster_state.gpu_node[grants.gpus].tolist(), grants.counts.cumsum().tolist()
    return [len(set(node_of[begin:end])) for begin, end in zip([0, *ends], ends)]


@lru_cache(maxsize=4096)
def limits_of(profile: ElasticProfile, smallest: int = 0, largest: int = 0) -> BatchLimits:
    """The batch sizes that an application allows a job with limits of its own (0: it has none)."""
    low, high = profile.batch_range(smallest, largest)
    return BatchLimits(profile.initial_batch, high, *profile.atomic, smallest=low)


def limits_of_job(profile: ElasticProfile, job_state: JobState, row: int) -> BatchLimits:
    """The batch sizes that its application and its own limits allow a job."""
    columns = job_state.columns
    return limits_of(profile, columns.min_batch_size.item(row), columns.max_batch_size.item(row))


@lru_cache(maxsize=4096)
def batch_asked_for(
    profile: ElasticProfile, gpus: int, batch: int, node_gpus: int, limits: BatchLimits
) -> int:
    """The batch size of the workload; where that is 0, the best for the GPUs asked for, half way through."""
    if batch > 0:
        return batch
    noise = GradientNoise(1.0, profile.noise_at(0.5))
    best = best_batch(ThroughputModel(*profile.throughput), noise, limits, -(-gpus // node_gpus), gpus)
    total = int(best.atomic) * (int(best.accumulation) + 1) * gpus
    smallest, largest = int(np.asarray(limits.smallest)), int(np.asarray(limits.largest))
    return min(total, largest) if total else min(max(smallest, gpus), largest)


def _set_batch(config: float, limits: BatchLimits, job_state: JobState, row: int) -> int:
    """The batch size that a schedule names. Raises BloxError where the job cannot be set to it."""
    if not limits.smallest <= config <= limits.largest:
        raise BloxError(
            f"job {job_state.columns.job_id[row]!r} is given a batch of {config:g}, and can be set to "
            f"{limits.smallest} to {limits.largest}",
            where=f"the scheduling policy's config, at {job_state.now:.12g} s",
            fix="give batch sizes between min_batch_size and max_batch_size that its application allows, "
            "or -1 to leave a job's alone",
        )
    return int(config)


@lru_cache(maxsize=65536)
def _running(profile: ElasticProfile, gpus: int, nodes: int, batch: int, limits: BatchLimits) -> _Running:
    model = ThroughputModel(*profile.throughput)
    atomic, accumulation = (max(int(part), low) for part, low in zip(
        split_batch(batch, gpus, limits), (1, 0)
    ))  # fmt: skip
    noise = profile.noise_at((np.arange(STAGES) + 0.5) / STAGES)
    scale = gpus * atomic * (accumulation + 1) / profile.initial_batch
    return _Running(
        float(model.iteration_s(nodes, gpus, atomic, accumulation)),
        np.asarray(GradientNoise(1.0, noise).gain(scale)),
        noise,
        atomic,
        accumulation,
        float(model.pass_s(atomic)),
        float(model.step_s(nodes, gpus, atomic)),
    )
