"""The Pollux artifact's own options, turned into parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from blox.admission_control.accept_all import AcceptAll
from blox.clock import Rounds
from blox.compat.pollux.policies import ToldOptimus, ToldPollux, TwoQueues
from blox.compat.pollux.ticks import Measured
from blox.composition import Composition
from blox.errors import BloxError
from blox.options import SimulationOptions
from blox.placement.first_free import FirstFree
from blox.protocols import SchedulingPolicy
from blox.registry import check_choices, register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.termination.completed import Completed
from blox.workloads.table import Array

NODE_GPUS = 4
DEFAULT_NODES, DEFAULT_ROUND_S = 16, 300.0


@dataclass(frozen=True)
class AfterFirstTick(AcceptAll):
    """No job is admitted at time 0: the artifact first looks at the end of its first interval."""

    def accept(self, new_jobs: Array, cluster_state: ClusterState, job_state: JobState) -> Array:
        return new_jobs if job_state.now > 0 else NO_ROWS


@register.compat("pollux")
@dataclass(frozen=True)
class PolluxCompat:
    """The Pollux artifact's simulator (OSDI'21): ticks, measured applications, 30 s per restart."""

    policy: Literal["pollux", "optimus", "tiresias"] = "pollux"
    interval: float = 60.0
    nodes: int | None = None
    interference: float = 0.0
    avoid: bool = True
    applications: str = ""
    population: int = 32
    generations: int = 100

    changes: ClassVar[dict[str, str]] = {
        "time": "ticks of `interval` s: jobs train, then the policy is asked; no job starts at time 0",
        "nodes": "the cluster is `nodes` x 4 GPUs (16 unless said here or by --cluster)",
        "speed": "step times, gradients and epochs are those measured; between measurements linear",
        "epochs": "the end of an epoch is rounded to a whole second",
        "restart": "any change of a job's nodes costs 30 s, the first start too; GPUs are held",
        "interference": "jobs that span nodes and share one lose this part of their speed",
        "avoid": "pollux lets no two jobs that span nodes share one",
        "batch": "pollux: jobs set it themselves at each tick and epoch (ncf: 32768); others: the trace's",
        "pollux": "the search is ours, not its genetic algorithm: equal on average, not job by job",
        "optimus": "true step times; the rest of an epoch does not count as left, the last epoch counts as 1",
        "tiresias": "two queues, demotion at 16 GPU-hours, no promotion; smaller jobs may pass",
        "fits": "jobs fit a model under pollux only: the others do not read it (the original fits them all)",
    }

    def __post_init__(self) -> None:
        check_choices(self)
        if not 0 < self.interval < math.inf:
            raise BloxError(
                f"interval is {self.interval}", fix="interval must be a number of seconds above 0"
            )
        if self.nodes is not None and self.nodes < 1:
            raise BloxError(f"nodes is {self.nodes}", fix="nodes must be 1 or more")
        if not 0 <= self.interference < 1:
            raise BloxError(f"interference is {self.interference}", fix="give a part of the speed: 0 to 0.99")

    def compose(self, round_s: float) -> Composition:
        if round_s not in (DEFAULT_ROUND_S, self.interval):
            raise BloxError(
                f"rounds of {round_s:g} s, and interval={self.interval:g}",
                fix="give interval to the preset only",
            )
        return Composition(
            admission=AfterFirstTick(),
            scheduler=self._scheduler(),
            placement=FirstFree(),
            termination=Completed(),
            performance=Measured(self.applications, self.policy == "pollux", self.interference),
            options=SimulationOptions(oversized_wait=self.policy != "tiresias"),
            clock=Rounds(self.interval),
            cluster="" if self.nodes is None else f"{self.nodes}x{NODE_GPUS}",
            default_cluster=f"{DEFAULT_NODES}x{NODE_GPUS}",
        )

    def _scheduler(self) -> SchedulingPolicy:
        if self.policy == "tiresias":
            return TwoQueues()
        if self.policy == "optimus":
            return ToldOptimus(first="submission")
        return ToldPollux(
            avoid_interference=self.avoid,
            population=self.population,
            generations=self.generations,
        )
