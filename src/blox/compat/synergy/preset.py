"""The public Synergy simulator's own options, turned into parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from blox.admission_control.accept_all import AcceptAll
from blox.compat.synergy.late_start import LateStart, RoundsFrom
from blox.compat.synergy.orders import Order
from blox.compat.synergy.pooled import Pooled
from blox.compat.synergy.repack import Repack
from blox.compat.synergy.whole_iterations import ByIterations
from blox.composition import Composition
from blox.errors import BloxError
from blox.options import SimulationOptions
from blox.protocols import PlacementPolicy
from blox.registry import check_choices, register
from blox.termination.completed import Completed

SERVERS = "16x8:cpu=24,memory_gb=500"


@register.compat("synergy")
@dataclass(frozen=True)
class SynergyCompat:
    """The public Synergy simulator (OSDI'22): each round from an empty cluster, two speeds per job."""

    schedule: Literal["FIFO", "SRTF", "LAS", "FTF"] = "FIFO"
    allocation: Literal["fair", "greedy", "tune", "opt"] = "tune"
    consolidate: bool = False
    first_round: float = 0.0
    stale_speed: bool = True
    least_delayed: bool = True
    largest_first: bool = True
    starved_first: bool = True
    time_limit_s: float = 10.0

    changes: ClassVar[dict[str, str]] = {
        "rounds": "every lease ends every round: all are placed anew on empty servers; moving costs nothing",
        "whole_iterations": "a round is credited at its start with whole iterations, rounded down",
        "finish_at_boundary": "completions count from the end of their round",
        "cluster": "servers are alike; without --cluster 16 of 8 GPUs, 24 cores, 500 GB",
        "demand": "best cases are profiled for one GPU, and cut down to a server; speed then follows cores",
        "speed": "a job runs at its best-case speed with all it demands, and at 1 otherwise; nothing between",
        "allocation=fair": "every job has the proportional share (`proportional` elsewhere)",
        "allocation=greedy": "best case or nothing: GPUs may stay idle",
        "allocation=tune": "best case, else the fair share, else peers are squeezed, the hungry ones first",
        "leftovers": "cores and memory that no job demands are not handed out",
        "allocation=opt": "a program over one pool of cores and memory, whatever the servers: an upper bound",
        "order": "all jobs that fit are tried: back-filling, not strict; ties as in the round before",
        "LAS": "chooses jobs by GPU count first; largest_first: tune then places the largest first",
        "stale_speed": "SRTF and FTF reckon with the speed of the round before",
        "least_delayed": "FTF takes the job that is delayed least first, against Themis",
        "starved_first": "a job that has not run for 1,000 h goes first for good, except in FIFO",
        "consolidate": "looks for one server first; off, as in the paper's figures",
        "first_round": "when the first round begins: 1 in the replay of jobs that are all there at 0",
    }

    def __post_init__(self) -> None:
        check_choices(self)
        if not 0 <= self.first_round < float("inf"):
            raise BloxError(f"first_round is {self.first_round:g}", fix="first_round must be 0 or more")

    def compose(self, round_s: float) -> Composition:
        fair = self.allocation == "fair"
        return Composition(
            admission=AcceptAll(),
            scheduler=Order(self.schedule, fair, self.stale_speed, self.least_delayed, self.starved_first),
            placement=self._placement(),
            termination=Completed(),
            performance=ByIterations(by="surface" if self.allocation == "opt" else "demand"),
            options=SimulationOptions(finish_at_boundary=True),
            clock=RoundsFrom(round_s, self.first_round),
            manager=LateStart,
            default_cluster=SERVERS,
        )

    def _placement(self) -> PlacementPolicy:
        if self.allocation == "opt":
            return Pooled(self.time_limit_s)
        las = self.schedule == "LAS"
        tuned = las and self.allocation == "tune" and self.largest_first
        return Repack(self.allocation, self.consolidate, pick_first=las, largest_first=tuned)
