"""NodePlacement: what placement policies over nodes share. A policy is the rule that picks nodes.

It decides how many GPUs a job gets where. Which of the free ones these are is a second, smaller decision, the
option `inside`, so that both can be combined at will: `consolidated:inside=bandwidth`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec.structs import replace

from blox import Allocation, BloxError, ClusterState, JobState, Plan, Schedule
from blox.placement.walk.by_node import RuleOfJob, Share, place_by_node
from blox.protocols import for_ever
from blox.registry import check_choices
from blox.state.cluster_spec import DEFAULT_TYPE, ClusterSpec
from blox.state.links import best_subset


@dataclass(frozen=True)
class NodePlacement:
    """Places jobs by the policy's `node_rule()`, then picks GPUs of their nodes by the option `inside`.

    `lowest`: the free GPUs with the lowest ids. `bandwidth`: those with the most bandwidth among them, by the
    links of the cluster (Blox, section 5.3, after Blink); of equals those that leave the most to others. Jobs
    choose in the order in which they are placed, each exactly (`state/links.py`). `random`: drawn, seeded.
    Jobs that run are not moved for a better place.
    """

    inside: Literal["lowest", "bandwidth", "random"] = field(
        default="lowest", kw_only=True, repr=False
    )  # the seed's draws do not depend on it

    def __post_init__(self) -> None:
        check_choices(self)

    def check_cluster(self, spec: ClusterSpec) -> None:
        """Refuses a cluster of which no links are known where they decide."""
        if self.inside == "bandwidth" and not spec.links:
            kind = next(iter(spec.gpu_types))
            raise BloxError(
                "inside=bandwidth, and the cluster says nothing about its links",
                where=f"cluster {spec.text!r}",
                fix=f"name them: {'' if kind == DEFAULT_TYPE else f'{kind}='}NODESxGPUS:links=p3.8xlarge",
            )

    @property
    def uses_seed(self) -> bool:
        return self.inside == "random"

    stable_until = for_ever

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        plan = self.place_on_nodes(schedule, cluster_state, job_state)
        return self.inside_nodes(plan, schedule, cluster_state, job_state)

    def place_on_nodes(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        """Which jobs run, with how many GPUs on which nodes."""
        rule = self.node_rule(cluster_state, job_state)
        return place_by_node(schedule, cluster_state, job_state, rule)

    if TYPE_CHECKING:  # a policy that has none says itself how it places jobs on nodes

        def node_rule(self, cluster_state: ClusterState, job_state: JobState) -> RuleOfJob: ...

    def inside_nodes(
        self, plan: Plan, schedule: Schedule, cluster_state: ClusterState, job_state: JobState
    ) -> Plan:
        """The plan, with as many GPUs for every job on the same nodes; pinned and shared GPUs stay."""
        chooses = self.inside != "lowest" and schedule.pinned is None and plan.launch.share_group is None
        if not chooses or not (plan.launch.size or plan.move.size):
            return plan
        rng = job_state.rng("inside") if self.inside == "random" else None
        chooser = _Chooser(plan, cluster_state, rng)
        return replace(plan, launch=chooser.chosen(plan.launch), move=chooser.chosen(plan.move))


class _Chooser:
    """Chooses among the GPUs that are free once the plan has taken jobs off: by links, or drawn by `rng`."""

    def __init__(self, plan: Plan, cluster_state: ClusterState, rng: np.random.Generator | None) -> None:
        self._cluster, self._rng = cluster_state, rng
        self._free = set(cluster_state.holdings.free.ids_with(plan.freed).tolist())

    def chosen(self, grants: Allocation) -> Allocation:
        """The same jobs on the same nodes, with the GPUs that they choose, one job after another."""
        gpus: list[int] = []
        for shares in shares_of(grants, self._cluster).values():
            gpus += sorted(gpu for node, count in shares for gpu in self._choose(node, count))
        return replace(grants, gpus=np.array(gpus, dtype=np.int64))

    def _choose(self, node: int, count: int) -> list[int]:
        """The GPUs of a node that a job takes."""
        spec, first = self._cluster.spec, int(self._cluster.node_first[node])
        free = tuple(gpu for gpu in range(spec.nodes[node].gpus) if first + gpu in self._free)
        links = spec.links.get(spec.nodes[node].gpu_type)
        taken = free[:count]
        if self._rng is not None:
            taken = tuple(self._rng.choice(free, count, replace=False).tolist())
        elif links is not None:
            taken = best_subset(links, free, count)
        gpus = [first + gpu for gpu in taken]
        self._free.difference_update(gpus)
        return gpus


def shares_of(allocation: Allocation, cluster_state: ClusterState) -> dict[int, tuple[Share, ...]]:
    """The nodes of each job, in the order of its GPUs, and how many GPUs it has on each."""
    nodes = replace(allocation, gpus=cluster_state.gpu_node.take(allocation.gpus)).as_dict()
    return {row: tuple((node, on.count(node)) for node in dict.fromkeys(on)) for row, on in nodes.items()}
