from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.backends.shared import SharedSimulation
from blox.cluster_state import ClusterState
from blox.errors import BloxError
from blox.job_state import JobState
from blox.performance.job_speeds import REFERENCE, job_speeds
from blox.plan import Allocation
from blox.registry import register
from blox.workloads.table import Array


@register.performance("throughputs")
@dataclass(frozen=True)
class ByThroughput:
    """Jobs do the steps per second that were measured for their model and GPUs on the GPU type they are on.

    Durations hold for `reference` GPUs: on others a job takes longer or shorter by the ratio of throughputs.
    Two jobs that share GPUs each do what was measured of such a pair. `path` is a JSON file of throughputs as
    Gavel publishes them; without one the project's own table is used (`profiles/gavel_throughputs.csv`). What
    counts for models, numbers of GPUs and GPU types that were not measured: `performance/job_speeds.py`. A
    job on several types goes at the pace of the slowest. Being spread over nodes costs nothing. Where a
    cluster has several GPU types this is what `auto` means.
    """

    path: str = ""
    reference: str = REFERENCE

    simulation: ClassVar[type[SharedSimulation]] = SharedSimulation

    def __post_init__(self) -> None:
        job_speeds(self.path, (), self.reference)

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array:
        return self.speeds(grants, cluster_state, job_state)[0]

    def speeds(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array, Array, Array]:
        """Rates beside the partner and alone, and steps/s at rate 1."""
        known = job_speeds(self.path, cluster_state.gpu_types, self.reference)
        columns, rows = job_state.columns, grants.jobs
        models, batches, gpus = columns.model, columns.batch_size, columns.gpus
        partners = [-1] * len(rows) if grants.share_group is None else grants.share_group.tolist()
        ends = np.cumsum(grants.counts).tolist()
        types = cluster_state.gpu_type[grants.gpus].tolist()
        found = np.empty((3, len(rows)))
        start = 0
        for i, (row, other, end) in enumerate(zip(rows.tolist(), partners, ends)):
            kind = known.kind(models[row], batches.item(row), gpus.item(row))
            on = set(types[start:end])
            start = end
            base, alone = known.base(kind), known.alone(kind)
            speed = min(alone[type_] for type_ in on)
            beside = speed
            if other >= 0:
                partner = known.kind(models[int(other)], batches.item(int(other)), gpus.item(int(other)))
                rates = known.beside(kind, partner)
                beside = min(rates[type_] for type_ in on)
            if beside <= 0:
                raise self._stuck(
                    row, int(other), {cluster_state.gpu_types[type_] for type_ in on}, job_state
                )
            found[:, i] = beside / base, speed / base, base
        return found[0], found[1], found[2]

    def _stuck(self, row: int, other: int, on: set[str], job_state: JobState) -> BloxError:
        columns = job_state.columns
        beside = "" if other < 0 else f" beside job {columns.job_id[other]!r}"
        return BloxError(
            f"job {columns.job_id[row]!r} ({columns.model[row]}, {int(columns.gpus[row])} GPUs) is on "
            f"{' and '.join(sorted(on))} GPUs{beside}, where its throughput is 0",
            where="performance 'throughputs'",
            fix="use --scheduler gavel, which knows, or name the types it may use in the column gpu_types",
        )
