from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from blox.errors import BloxError
from blox.performance.by_throughput import ByThroughput
from blox.performance.job_speeds import JobSpeeds, check_speeds, job_speeds
from blox.performance.model_profiles import profiles_from
from blox.performance.training import network_gbps, step_s
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import NETWORK_GBPS, ClusterSpec
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array


@register.performance("spread")
@dataclass(frozen=True)
class Spread(ByThroughput):
    """A job runs at the speed of its GPUs and pays for the network: by its model and the cluster's hardware.

    The rate is the time of a training step (`performance/training.py`) where the duration holds, on as few
    nodes as the job needs, of `reference` GPUs linked by 100 Gb/s, over that where it stands. So faster GPUs
    help, a slow network costs models with many parameters the most, and fast GPUs lose more by it than slow
    ones. GPU types and bandwidths are the cluster's: `a100=32x4:network_gbps=10`; between racks its
    `rack_gbps` counts. How fast a type computes: `--performance throughputs`; a job on several types goes at
    the pace of the slowest. `models` and `gpus` are CSV files of your own in the form of
    `profiles/models.csv` and `gpus.csv`; a model without a row takes that of `*`. `durations=here`: durations
    hold for the GPUs and the network of the cluster, whatever they are, and only being spread over more
    nodes than needed costs. Where a workload names models this is what `auto` means.
    """

    models: str = ""
    gpus: str = ""
    durations: Literal["reference", "here"] = "reference"

    by_nodes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        profiles_from(self.models, self.gpus)
        if self.durations not in ("reference", "here"):
            raise BloxError(f"durations is {self.durations!r}", fix="durations must be reference or here")

    @property
    def by_gpu_type(self) -> bool:
        """Whether jobs on other GPUs than the reference are faster or slower."""
        return self.durations == "reference"

    def check_cluster(self, spec: ClusterSpec) -> None:
        """Refuses GPU types of which no speed is known."""
        check_speeds(self.path, spec, self.gpus)

    def speeds(
        self, grants: Allocation, kinds: Array, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array, Array, Array]:
        """Rates beside the partner and alone, and steps/s at rate 1, of jobs of these kinds."""
        beside, alone, base = super().speeds(grants, kinds, cluster_state, job_state)
        if self.durations == "here":
            ones = np.ones(len(kinds))
            beside, alone = ones if beside is alone else beside / alone, ones
        several = grants.counts > 1
        if several.any() and not cluster_state.one_pool:
            wide = grants.select(several)
            rates = self._rates(wide, alone[several], cluster_state, job_state)
            if beside is not alone:
                beside[several] = self._rates(wide, beside[several], cluster_state, job_state)
            alone[several] = rates
        return beside, alone, base

    def _rates(
        self, grants: Allocation, speed: Array, cluster_state: ClusterState, job_state: JobState
    ) -> Array:
        """A step at home, where durations hold, over a step here; `speed`: of the GPUs here, at home 1."""
        profiles, spec = profiles_from(self.models, self.gpus), cluster_state.spec
        kinds = profiles.of_cluster(spec, self.reference)
        models = [profiles.model(name) for name in job_state.columns.model[grants.jobs].tolist()]
        gigabits = np.array([model.gigabits for model in models])
        compute_s = np.array([model.step_s for model in models])
        starts = np.cumsum(grants.counts) - grants.counts
        types = cluster_state.gpu_type[grants.gpus]
        node_gbps = np.minimum.reduceat(np.array([kind.node_gbps for kind in kinds])[types], starts)
        on_node, nodes, racks_apart = _shape(grants, cluster_state)
        gbps = np.full(len(models), network_gbps(spec))
        if spec.rack_gbps:
            gbps[racks_apart] = min(spec.network_gbps, spec.rack_gbps)
        sizes = np.sort(cluster_state.node_gpus)[::-1]
        fewest = np.searchsorted(np.cumsum(sizes), grants.counts) + 1
        packed = np.minimum(grants.counts, sizes[0])
        if self.durations == "here":
            slowest = np.minimum.reduceat(np.array([kind.speed for kind in kinds])[types], starts)
            home_gbps, home_node_gbps, home_s = spec.network_gbps, node_gbps, compute_s / slowest
            here_s = home_s
        else:
            home_gbps, home_s, here_s = NETWORK_GBPS, compute_s, compute_s / speed
            home_node_gbps = np.full(len(models), profiles.generation(self.reference).node_gbps)
        network = np.full(len(models), home_gbps)
        home = step_s(gigabits, home_s, packed, fewest, home_node_gbps, network)
        here: Array = step_s(gigabits, here_s, on_node, nodes, node_gbps, gbps)
        return np.asarray(home / here)

    def _known(self, cluster_state: ClusterState) -> JobSpeeds:
        types, given = cluster_state.gpu_types, cluster_state.spec.speeds
        return job_speeds(self.path, types, given, self.reference, self.gpus)


def _shape(grants: Allocation, cluster_state: ClusterState) -> tuple[Array, Array, Array]:
    """Of each job: the most GPUs on one node, the number of nodes, whether they stand in several racks."""
    owner = np.repeat(np.arange(len(grants.jobs)), grants.counts)
    pairs, here = np.unique(
        owner * cluster_state.nodes + cluster_state.gpu_node[grants.gpus], return_counts=True
    )
    owner, node = np.divmod(pairs, cluster_state.nodes)
    first = np.searchsorted(owner, np.arange(len(grants.jobs)))
    rack = cluster_state.node_rack[node]
    apart = np.maximum.reduceat(rack, first) != np.minimum.reduceat(rack, first)
    return np.maximum.reduceat(here, first), np.bincount(owner), apart
