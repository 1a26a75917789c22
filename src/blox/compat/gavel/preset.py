"""Gavel's own options, turned into parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from blox.admission_control.accept_all import AcceptAll
from blox.compat.gavel.as_original import as_the_original
from blox.compat.gavel.leases import Leases
from blox.compat.gavel.manager import RoundEnds, Sharing
from blox.compat.gavel.steps import Steps
from blox.compat.gavel.time_shares import TimeShares
from blox.composition import Composition
from blox.errors import BloxError
from blox.performance.throughputs import throughputs
from blox.registry import register
from blox.schedulers.gavel.policies.by_name import original
from blox.termination.completed import Completed

CLUSTER = "v100=36x1,p100=36x1,k80=36x1"
DEFAULT_ROUND_S = 300.0


@register.compat("gavel")
@dataclass(frozen=True)
class GavelCompat:
    """Gavel's simulator (OSDI'20): policies give fractions of time, a mechanism makes rounds of them."""

    policy: str = "max_min_fairness_perf"
    seed: int = 0
    time_per_iteration: float = 360.0
    minimum_time_between_allocation_resets: float = 1920.0
    throughputs: str = ""

    changes: ClassVar[dict[str, str]] = {
        "rounds": "end with the slowest job's whole steps: up to time_per_iteration s, on no fixed grid",
        "steps": "a round is worth int(throughput x time_per_iteration) steps; a job ends at its own time",
        "early ends": "a job that ends within a round leaves its GPUs idle until the round is over",
        "resets": "allocations are made anew when jobs came or went, but not within 1920 s of the last one",
        "reset at 0": "a reset at time 0 does not count as one: the next may follow at once",
        "newcomers": "are not in the allocation before the next reset: chosen ones leave their GPUs idle",
        "priority": "fraction promised over fraction received; then the larger deficit, the larger fraction",
        "received": "begins at half a round for all; time counts once, however many GPUs a job holds",
        "work conserving": "GPUs that are left go to any job, however slow it is there (but not under fifo)",
        "types": "V100 first, P100, K80; policies that do not know types apart: at random, anew every round",
        "pairs": "two jobs of equal GPU count may share; both end with the slower, no speed-up in between",
        "failures": "a round of less than a step per GPU does not count; after 5 in a row the job is dropped",
        "idle gaps": "the first round after one is counted as if it had begun before the gap",
        "placement": "leases are extended where possible, and counted; moving costs nothing",
        "optima": "of many the one at which the original's solver (ECOS) ends",
        "fifo": "takes types by their names' order, room or no room, and lets jobs share their time",
        "gandiva": "judges pairs by the sum over all types; pairs and draws are the original's",
        "finish_time_fairness_packed": "divides throughputs by weights",
        "cluster": "without --cluster 36 GPUs of each type, one to a server",
    }

    def __post_init__(self) -> None:
        original(self.policy)  # says what is there, if the name is wrong
        if not 0 < self.time_per_iteration < math.inf:
            raise BloxError(
                f"time_per_iteration is {self.time_per_iteration:g}",
                fix="time_per_iteration must be a number of seconds above 0",
            )
        if not 0 <= self.minimum_time_between_allocation_resets < math.inf:
            raise BloxError(
                f"minimum_time_between_allocation_resets is {self.minimum_time_between_allocation_resets:g}",
                fix="minimum_time_between_allocation_resets must be a number of seconds, 0 or more",
            )

    def compose(self, round_s: float) -> Composition:
        if round_s not in (DEFAULT_ROUND_S, self.time_per_iteration):
            raise BloxError(
                f"rounds of {round_s:g} s, and time_per_iteration={self.time_per_iteration:g}",
                fix="give time_per_iteration to the preset only",
            )
        throughputs(self.throughputs)  # refused now if it cannot be read
        policy, name = as_the_original(self.policy, self.seed), self.policy.replace("-", "_")
        scheduler = TimeShares(
            policy,
            self.throughputs,
            packed=policy.packed,
            shuffle=not (policy.packed or "_perf" in name or name == "allox"),
            promised_only=name.startswith("fifo"),
            seed=self.seed,
            round_s=self.time_per_iteration,
            reset_s=self.minimum_time_between_allocation_resets,
        )
        return Composition(
            admission=AcceptAll(),
            scheduler=scheduler,
            placement=Leases(),
            termination=Completed(),
            performance=Steps(self.time_per_iteration),
            clock=RoundEnds(self.time_per_iteration),
            manager=Sharing,
            default_cluster=CLUSTER,
            replaces=("utilisation",),
        )
