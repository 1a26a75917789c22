from __future__ import annotations

from dataclasses import dataclass

from blox import BloxError, ClusterState, JobState, register
from blox.performance.model_profiles import Generation, profiles_from
from blox.performance.training import network_gbps, slowdown
from blox.placement.node_placement import NodePlacement
from blox.placement.tiresias import OTHERS, TOGETHER, Rest
from blox.placement.walk.by_node import NodeRule, RuleOfJob
from blox.state.cluster_spec import ClusterSpec


@register.placement("profile")
@dataclass(frozen=True)
class Profile(NodePlacement):
    """Keeps exactly those jobs together that lose by being spread on this hardware ("Tiresias+", Blox, 4.3).

    A job is kept together if its model, with that many GPUs, would take more than `tolerance` longer with
    every GPU on a node of its own (0.05: 5 %). The others fill fragments, or with `rest=spread` stay together
    where that is possible at once. What spreading costs is worked out as in `--performance spread`, from the
    cluster's bandwidth and its fastest GPUs; `models` and `gpus` are tables of your own. `gpu` and `gbps`
    take the profile of other hardware instead, to see what a stale one does: `profile:gpu=p100,gbps=100`.
    """

    tolerance: float = 0.05
    rest: Rest = "fragments"
    gpu: str = ""
    gbps: float | None = None
    models: str = ""
    gpus: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.tolerance >= 0:
            raise BloxError(f"tolerance is {self.tolerance:g}", fix="tolerance must be 0 or more")
        if self.gbps is not None and not 0 < self.gbps < float("inf"):
            raise BloxError(f"gbps is {self.gbps:g}", fix="gbps must be above 0")
        profiles_from(self.models, self.gpus)

    def check_cluster(self, spec: ClusterSpec) -> None:
        """Refuses GPU types of which no speed is known, and links that are not known but asked for."""
        super().check_cluster(spec)
        if not self.gpu:
            profiles_from(self.models, self.gpus).of_cluster(spec)

    def node_rule(self, cluster_state: ClusterState, job_state: JobState) -> RuleOfJob:
        profiles, columns = profiles_from(self.models, self.gpus), job_state.columns
        generation, gbps = self._hardware(cluster_state)
        largest = int(cluster_state.node_gpus.max())

        def rule_of(row: int) -> NodeRule:
            model = profiles.model(columns.model[row])
            loss = slowdown(model, int(columns.gpus[row]), largest, generation, gbps)
            return TOGETHER if loss > self.tolerance else OTHERS[self.rest]

        return rule_of

    def _hardware(self, cluster_state: ClusterState) -> tuple[Generation, float]:
        profiles, spec = profiles_from(self.models, self.gpus), cluster_state.spec
        gbps = network_gbps(spec) if self.gbps is None else self.gbps
        if self.gpu:
            return profiles.generation(self.gpu), gbps
        return max(profiles.of_cluster(spec), key=lambda generation: generation.speed), gbps
