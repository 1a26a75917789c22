from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from blox.performance.by_throughput import ByThroughput
from blox.performance.job_speeds import JobSpeeds, check_speeds, job_speeds
from blox.performance.model_profiles import profiles_from
from blox.performance.training import network_gbps, step_s
from blox.registry import check_choices, register
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import NETWORK_GBPS, ClusterSpec
from blox.state.jobs import JobState
from blox.state.links import best_subset, mean_gbps
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
    `rack_gbps` counts, and inside a node the links of the job's own GPUs where the cluster has any
    (`v100=8x8:links=p3.16xlarge`): their mean bandwidth, on the node where it is least. How fast a type
    computes: `--performance throughputs`; a job on several types goes at the pace of the slowest. `models`
    and `gpus` are CSV files of your own in the form of `profiles/models.csv` and `gpus.csv`; a model without
    a row takes that of `*`. `durations=here`: durations hold for the GPUs and the network of the cluster,
    whatever they are, and only being spread over more nodes than needed, or over worse links, costs. Where a
    workload names models this is what `auto` means.
    """

    models: str = ""
    gpus: str = ""
    durations: Literal["reference", "here"] = "reference"

    by_nodes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        profiles_from(self.models, self.gpus)
        check_choices(self)

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
    ) -> list[float]:
        """The rates of jobs on several GPUs, which compute at so much of the speed that they have at home."""
        names = job_state.columns.model[grants.jobs].tolist()
        columns = cluster_state.gpu_node, cluster_state.gpu_type
        node_of, type_of = (column.take(grants.gpus).tolist() for column in columns)
        spec, rack_of, gpus = cluster_state.spec, cluster_state.node_rack, grants.gpus.tolist()
        found, last = [], 0
        for name, count, fast in zip(names, grants.counts.tolist(), speed.tolist()):
            first, last = last, last + count
            nodes = node_of[first:last]
            there = set(nodes)
            apart = bool(spec.rack_gbps) and len(set(rack_of[list(there)].tolist())) > 1
            types = tuple(sorted(set(type_of[first:last])))
            inside = _link_gbps(gpus[first:last], nodes, cluster_state) if spec.links else 0.0
            shape = Shape(count, max(map(nodes.count, there)), len(there), apart, types, inside)
            found.append(_rate(self, spec, name, shape, fast))
        return found

    def _known(self, cluster_state: ClusterState) -> JobSpeeds:
        types, given = cluster_state.gpu_types, cluster_state.spec.speeds
        return job_speeds(self.path, types, given, self.reference, self.gpus)


class Shape(NamedTuple):
    """Where a job is: its GPUs, the most on one node, the nodes, whether in several racks, the GPU types, and
    the bandwidth of its links (Gb/s; 0: as its GPU types have it)."""

    gpus: int
    on_node: int
    nodes: int
    racks_apart: bool
    types: tuple[int, ...]
    link_gbps: float


def _link_gbps(gpus: list[int], nodes: list[int], cluster_state: ClusterState) -> float:
    """The mean bandwidth between the GPUs of a job on the node where it is least; 0 where none is known."""
    known = []
    for node in dict.fromkeys(nodes):
        links = cluster_state.spec.links.get(cluster_state.spec.nodes[node].gpu_type)
        if links is not None and nodes.count(node) > 1:
            base = int(cluster_state.node_first[node])
            known.append(mean_gbps(links, tuple(g - base for g, n in zip(gpus, nodes) if n == node)))
    return min(known, default=0.0)


def _best_gbps(spec: ClusterSpec, shape: Shape, packed: int) -> float:
    """The least mean bandwidth that so many GPUs of the job's types have where they are best connected."""
    matrices = [
        spec.links[spec.gpu_types[kind]] for kind in shape.types if spec.gpu_types[kind] in spec.links
    ]
    best = [mean_gbps(links, best_subset(links, tuple(range(len(links))), packed)) for links in matrices]
    return min(best, default=0.0)


@lru_cache(maxsize=1 << 16)
def _rate(performance: Spread, spec: ClusterSpec, model: str, shape: Shape, speed: float) -> float:
    """A step at home, where durations hold, over a step here; `speed`: of the GPUs here, at home 1."""
    profiles = profiles_from(performance.models, performance.gpus)
    known = profiles.model(model)
    generations = profiles.of_cluster(spec, performance.reference)
    typical_gbps = min(generations[kind].node_gbps for kind in shape.types)
    node_gbps = shape.link_gbps or typical_gbps
    packed, fewest = min(shape.gpus, spec.largest_node), spec.fewest_nodes(shape.gpus)
    gbps = home_gbps = network_gbps(spec)
    if shape.racks_apart:
        gbps = min(spec.network_gbps, spec.rack_gbps)
    if performance.durations == "here":
        home_s = here_s = known.step_s / min(generations[kind].speed for kind in shape.types)
        home_node_gbps = _best_gbps(spec, shape, packed) or typical_gbps
    else:
        home_s, here_s, home_gbps = known.step_s, known.step_s / speed, NETWORK_GBPS
        home_node_gbps = profiles.generation(performance.reference).node_gbps
    home = step_s(known.gigabits, home_s, packed, fewest, home_node_gbps, home_gbps)
    return home / step_s(known.gigabits, here_s, shape.on_node, shape.nodes, node_gbps, gbps)
