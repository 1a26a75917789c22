from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from blox import BloxError, ClusterState, JobState, Plan, Schedule, register
from blox.placement.first_free import FirstFree
from blox.placement.node_placement import NodePlacement, shares_of
from blox.placement.synergy.beliefs import Learnt, Wants, wants_of
from blox.placement.synergy.room import SynergyRoom
from blox.placement.synergy.share import Grants, Places, best, shared
from blox.placement.walk.plain import Walk
from blox.placement.walk.requests import Requests, placed
from blox.profiles.synergy import surfaces
from blox.workloads.table import Array


@dataclass
class _Memory:
    learnt: Learnt = field(default_factory=Learnt)
    basis: tuple[Places, Wants] = field(default_factory=lambda: ({}, {}))  # of the last grants
    grants: Grants = field(default_factory=dict)
    gap: float = 0.0
    solved: int = 0
    nothing_to_share: bool = False


@register.placement("synergy")
@dataclass(frozen=True)
class Synergy(NodePlacement):
    """Places jobs with an eye to CPU cores and memory, and shares those out too (Synergy, OSDI'22).

    Which jobs run follows from the order and GPUs, as elsewhere; running jobs stay. A job looks for one
    node where what its model wants is left, then for one with room, then for several. `mode=proportional`
    gives every job the same cores and memory per GPU; `tune` takes from jobs that want less what jobs that
    want more can use, none being slower than with its proportional share; `greedy` starts a job only where
    its best case fits; `opt` makes the sum of speeds as large as possible, by HiGHS for at most
    `time_limit_s` at a time (the largest gap is reported as `opt_gap`). What models want comes from
    `profiles` (as in `--performance sensitivity`), or with `belief=learnt` from how fast jobs were seen to
    be: each model is given less until it shows. Nodes that name no cores and memory have nothing to share:
    write `--cluster 16x8:cpu=24,memory_gb=500`.

    Departs from the paper: jobs do not move for a better fit, leftover cores and memory are handed out, and
    speeds between fair share and best case are used.
    """

    mode: Literal["proportional", "greedy", "tune", "opt"] = "tune"
    belief: Literal["oracle", "learnt"] = "oracle"
    profiles: str = ""
    time_limit_s: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.time_limit_s < math.inf:
            raise BloxError(f"time_limit_s is {self.time_limit_s:g}", fix="time_limit_s must be above 0")
        if self.mode == "opt" and self.belief == "learnt":
            raise BloxError(
                "mode=opt needs whole profiles, and what is learnt is a few points of them",
                fix="leave out belief=learnt, or take mode=tune",
            )
        surfaces(self.profiles)

    @property
    def default_performance(self) -> str:
        """Speeds follow the profiles that cores and memory are shared out by."""
        return f"sensitivity:profiles={self.profiles}" if self.profiles else "sensitivity"

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        memory = job_state.memory(self, _Memory)
        if self.belief == "learnt":
            memory.learnt.observe(cluster_state, job_state)
        plain = memory.nothing_to_share = _nothing_to_share(cluster_state)
        if plain or schedule.pinned is not None or schedule.gpu_type is not None or job_state.typed:
            plan = FirstFree().place(schedule, cluster_state, job_state)
        else:
            wants = self._wants(schedule.jobs, cluster_state, job_state)

            def walk(requests: Requests) -> Plan:
                room = SynergyRoom(requests, wants, must_fit=self.mode == "greedy")
                return Walk(requests, cluster_state.gpu_node, room).run()

            plan = placed(schedule, cluster_state, job_state, walk)
        plan = self.inside_nodes(plan, schedule, cluster_state, job_state)
        if plain or self.mode == "proportional":
            return plan
        return self._granted(plan, memory, cluster_state, job_state)

    def stable_until(self, job_state: JobState, cluster_state: ClusterState) -> float:
        """Which jobs share a node changes with events only; learning goes on every round."""
        return math.inf if self.belief == "oracle" else job_state.now

    def wait_reasons(self, rows: Array, job_state: JobState, cluster_state: ClusterState) -> str:
        greedy = self.mode == "greedy" and not job_state.memory(self, _Memory).nothing_to_share
        return "enough GPUs were free, but not with the cores and memory that it wants" if greedy else ""

    def figures(self, job_state: JobState) -> dict[str, float]:
        """How far from the best the programs may have ended, and how many there were."""
        memory = job_state.memory(self, _Memory)
        if memory.nothing_to_share:
            return {"nothing_to_share": 1}
        return {"opt_gap": memory.gap, "opt_solved": memory.solved} if self.mode == "opt" else {}

    def _wants(self, rows: Array, cluster_state: ClusterState, job_state: JobState) -> Wants:
        learnt = job_state.memory(self, _Memory).learnt if self.belief == "learnt" else None
        return wants_of(rows, learnt, self.profiles, cluster_state, job_state)

    def _granted(self, plan: Plan, memory: _Memory, cluster_state: ClusterState, job_state: JobState) -> Plan:
        """The same GPUs, with cores and memory beside them."""
        wanted = plan.outcome(cluster_state.allocation)
        wants = self._wants(wanted.jobs, cluster_state, job_state)
        shares = sorted(shares_of(wanted, cluster_state).items())
        places = {row: tuple(sorted(on)) for row, on in shares}
        if (places, wants) != memory.basis:
            memory.basis = places, wants
            if self.mode == "opt":
                memory.grants, gap = best(places, cluster_state, job_state, self.profiles, self.time_limit_s)
                memory.gap, memory.solved = max(memory.gap, gap), memory.solved + 1
            else:
                memory.grants = shared(places, wants, cluster_state)
        granted = plan.granting(cluster_state.allocation, **memory.grants)
        return granted if granted.empty else replace(granted, settled=self.belief == "oracle")


def _nothing_to_share(cluster_state: ClusterState) -> bool:
    """Whether nodes name neither cores nor memory. Raises BloxError where some name one without the other."""
    cores, memory = cluster_state.node_cpu > 0, cluster_state.node_memory_gb > 0
    if not (cores | memory).any():
        return True
    if not (cores & memory).all():
        raise BloxError(
            "some nodes do not say how many cores or how much memory they have",
            where="placement synergy",
            fix="give every node both: 16x8:cpu=24,memory_gb=500",
        )
    return False
