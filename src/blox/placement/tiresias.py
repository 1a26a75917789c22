from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from blox import BloxError, ClusterState, JobState, register
from blox.performance.model_profiles import profiles_from
from blox.placement.consolidated import Consolidated
from blox.placement.fragments import Fragments
from blox.placement.node_placement import NodePlacement
from blox.placement.walk.by_node import NodeRule, RuleOfJob

Rest = Literal["fragments", "spread"]  # how jobs are placed that are not kept together
TOGETHER = Consolidated("wait")
OTHERS: dict[Rest, NodeRule] = {"fragments": Fragments(), "spread": Consolidated("spread")}


@register.placement("tiresias")
@dataclass(frozen=True)
class Tiresias(NodePlacement):
    """Keeps jobs with skewed models together; the others fill fragments (Tiresias, NSDI'19, section 3.3).

    A model is skewed if its largest tensor holds the share `skew` of its parameters or more; such a job
    waits for the fewest nodes it can do with. `rest=fragments`: the others go where the gaps are smallest,
    as the Blox paper has it (section 4.3); `rest=spread`: together if that is possible at once, else apart.

    Departs from its paper: tensors are not observed on the network but looked up by the model's name in
    `profiles/models.csv`, or a file of that form given as `models`; and the limit is ours, in the gap between
    networks of convolutions or attention (0.04 to 0.21) and those that dense layers or embeddings dominate.
    """

    skew: float = 0.3
    rest: Rest = "fragments"
    models: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.skew <= 1:
            raise BloxError(f"skew is {self.skew:g}", fix="skew is a share of the model: 0 to 1")
        profiles_from(self.models)

    def node_rule(self, cluster_state: ClusterState, job_state: JobState) -> RuleOfJob:
        profiles, models = profiles_from(self.models), job_state.columns.model

        def rule_of(row: int) -> NodeRule:
            return TOGETHER if profiles.model(models[row]).largest_share >= self.skew else OTHERS[self.rest]

        return rule_of
