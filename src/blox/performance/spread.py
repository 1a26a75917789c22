from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.performance.model_profiles import profiles_from
from blox.performance.training import network_gbps, step_s
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array


@register.performance("spread")
@dataclass(frozen=True)
class Spread:
    """A job on more nodes than it needs pays for the network: by its model, the GPUs and the bandwidth.

    The rate is the time of a training step on as few nodes as the job needs over that where it stands
    (`performance/training.py`), so a slow network costs models with many parameters the most, and fast
    GPUs more than slow ones. Bandwidths and GPU generations are the cluster's: `v100=32x4:network_gbps=10`;
    between racks its `rack_gbps` counts. A job on GPUs of several types goes at the pace of the slowest.
    Durations hold for the GPUs that a job runs on. `models` and `gpus` are CSV files of your own
    in the form of `profiles/models.csv` and `gpus.csv`; what has no row takes that of `*`.
    """

    models: str = ""
    gpus: str = ""

    def __post_init__(self) -> None:
        profiles_from(self.models, self.gpus)

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        several = grants.counts > 1
        if cluster_state.one_pool or not several.any():
            return 1.0
        profiles, spec = profiles_from(self.models, self.gpus), cluster_state.spec
        kinds = profiles.of_cluster(spec)
        models = [profiles.model(name) for name in job_state.columns.model[grants.jobs].tolist()]
        gigabits = np.array([model.gigabits for model in models])
        compute_s = np.array([model.step_s for model in models])
        starts = np.cumsum(grants.counts) - grants.counts
        types = cluster_state.gpu_type[grants.gpus]
        slowest = np.minimum.reduceat(np.array([kind.speed for kind in kinds])[types], starts)
        node_gbps = np.minimum.reduceat(np.array([kind.node_gbps for kind in kinds])[types], starts)
        on_node, nodes, racks_apart = _shape(grants, cluster_state)
        gbps = np.full(len(models), network_gbps(spec))
        if spec.rack_gbps:
            gbps[racks_apart] = min(spec.network_gbps, spec.rack_gbps)
        sizes = np.sort(cluster_state.node_gpus)[::-1]
        fewest = np.searchsorted(np.cumsum(sizes), grants.counts) + 1
        packed = np.minimum(grants.counts, sizes[0])
        work = gigabits, compute_s / slowest
        alone = step_s(*work, packed, fewest, node_gbps, np.full(len(models), spec.network_gbps))
        here: Array = step_s(*work, on_node, nodes, node_gbps, gbps)
        return np.asarray(alone / here)


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
