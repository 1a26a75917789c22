from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blox.backends.shared import SharedSimulation
from blox.errors import BloxError
from blox.performance.job_speeds import JobSpeeds, check_speeds, job_speeds
from blox.performance.model_profiles import REFERENCE
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec
from blox.state.jobs import JobState
from blox.state.plan import Allocation
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
    cluster names GPU types, and a workload no models, this is what `auto` means.
    """

    path: str = ""
    reference: str = REFERENCE

    simulation: ClassVar[type[SharedSimulation]] = SharedSimulation
    by_nodes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        job_speeds(self.path, (), (), self.reference)

    def check_cluster(self, spec: ClusterSpec) -> None:
        """Refuses GPU types of which no speed is known."""
        check_speeds(self.path, spec)

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array:
        kinds = self.kinds(grants.jobs, cluster_state, job_state)
        return self.speeds(grants, kinds, cluster_state, job_state)[0]

    def kinds(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        """The number of each job's kind."""
        columns = job_state.columns
        return self._known(cluster_state).kinds(
            columns.model[rows].tolist(), columns.batch_size[rows].tolist(), columns.gpus[rows].tolist()
        )

    def speeds(
        self, grants: Allocation, kinds: Array, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array, Array, Array]:
        """Rates beside the partner and alone, and steps/s at rate 1, of jobs of these kinds."""
        known = self._known(cluster_state)
        relative, base = known.relative(), known.tables()[1].take(kinds)
        counts, gpus = grants.counts, grants.gpus
        if relative.shape[1] == 1:
            alone = relative[:, 0].take(kinds)
        elif len(gpus) == len(kinds):
            alone = relative[kinds, cluster_state.gpu_type.take(gpus)]
        else:  # the slowest of its GPUs sets a job's pace
            each = relative[np.repeat(kinds, counts), cluster_state.gpu_type.take(gpus)]
            alone = np.minimum.reduceat(each, np.cumsum(counts) - counts)
        beside = alone
        if grants.share_group is not None:
            beside = self._beside(alone, grants, kinds, base, cluster_state, job_state)
        if not beside.all():
            raise self._stuck(grants, int(beside.argmin()), cluster_state, job_state)
        return beside, alone, base

    def _beside(
        self,
        alone: Array,
        grants: Allocation,
        kinds: Array,
        base: Array,
        cluster_state: ClusterState,
        job_state: JobState,
    ) -> Array:
        """Rates of jobs of which some share their GPUs, given what they are alone."""
        known, found = self._known(cluster_state), alone.copy()
        types, starts = cluster_state.gpu_type.take(grants.gpus), np.cumsum(grants.counts) - grants.counts
        assert grants.share_group is not None
        for i in (grants.share_group >= 0).nonzero()[0].tolist():
            partner = self.kinds(grants.share_group[i : i + 1].astype(np.int64), cluster_state, job_state)
            rates = known.beside(int(kinds[i]), int(partner[0]))
            on = types[starts[i] : starts[i] + grants.counts[i]].tolist()
            found[i] = min(rates[type_] for type_ in on) / base[i]
        return found

    def _known(self, cluster_state: ClusterState) -> JobSpeeds:
        return job_speeds(self.path, cluster_state.gpu_types, cluster_state.spec.speeds, self.reference)

    def _stuck(
        self, grants: Allocation, place: int, cluster_state: ClusterState, job_state: JobState
    ) -> BloxError:
        columns, row = job_state.columns, int(grants.jobs[place])
        names = {cluster_state.gpu_types[type_] for type_ in cluster_state.gpu_type[grants.gpus_of(row)]}
        other = -1 if grants.share_group is None else int(grants.share_group[place])
        beside = "" if other < 0 else f" beside job {columns.job_id[other]!r}"
        return BloxError(
            f"job {columns.job_id[row]!r} ({columns.model[row]}, {int(columns.gpus[row])} GPUs) is on "
            f"{' and '.join(sorted(names))} GPUs{beside}, where its throughput is 0",
            where="performance 'throughputs'",
            fix="use --scheduler gavel, which knows, or name the types it may use in the column gpu_types",
        )
