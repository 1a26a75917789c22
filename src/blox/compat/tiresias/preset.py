"""The public Tiresias simulator's own options, turned into parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from blox.admission_control.accept_all import AcceptAll
from blox.clock import Events
from blox.compat.tiresias.counted import Counted
from blox.compat.tiresias.groups import Groups
from blox.compat.tiresias.host_yarn import HostYarn
from blox.compat.tiresias.in_turn import EveryOther, InTurn
from blox.compat.tiresias.mlfq import Mlfq
from blox.compat.tiresias.silent_end import SilentEnd
from blox.compat.tiresias.stale import StaleCompletion
from blox.compat.tiresias.tables import expected_table, index_table
from blox.compat.tiresias.whole_line import IndexOrder, Shortest, ShortestExpected
from blox.composition import Composition
from blox.errors import BloxError, suggestion
from blox.options import SimulationOptions
from blox.performance.duration import Duration
from blox.protocols import PlacementPolicy, SchedulingPolicy
from blox.registry import register
from blox.schedulers.fifo import Fifo
from blox.schedulers.sjf import Sjf
from blox.termination.completed import Completed

# the starvation knob that stands behind a schedule's name
KNOBS = {"05": 0.5, "1": 1.0, "2": 2.0, "4": 4.0, "8": 8.0, "10": 10.0, "100": 100.0, "1000": 1000.0}
QUEUED = {
    "dlas": 0.0,
    "dlas-gpu": 0.0,
    "dlas-gpu-pack": 0.0,
    "dlas-gpu-gittins": 0.0,
    **{f"dlas-gpu-{name}": knob for name, knob in KNOBS.items()},
    **{f"dlas-gpu-gittins-{name}": KNOBS[name] for name in ("1", "2", "4", "8")},
}
IN_LINE = ("fifo", "fjf", "lpjf", "sjf", "shortest", "shortest-gpu", "shortest-expected")
SCHEDULES = (*IN_LINE, *QUEUED, "gittins", "multi-dlas-gpu")
REPACKED = ("sjf", "shortest", "shortest-gpu", "shortest-expected")
NOT_REPRODUCED = {
    "random": "its draws depend on Python 2's random numbers, and as shipped it crashes",
    "crandom": "its draws depend on Python 2's random numbers, and as shipped it crashes",
    "balance": "nothing runs under it",
    "gandiva": "it belongs to the schedule gandiva",
}


@register.compat("tiresias")
@dataclass(frozen=True)
class TiresiasCompat:
    """The public Tiresias simulator (NSDI'19): event-driven, in whole seconds, GPUs counted or first fit."""

    schedule: str = "fifo"
    scheme: str = "yarn"
    num_queue: int = 3
    queue_limit: tuple[int, ...] = (3250, 7200, 18000)
    distribution: str = "yarn-gput1000.csv"
    memfix: bool = False
    late_demotion: bool = True
    running_first: bool = True
    stale_completion: bool = True
    own_index: bool = True
    misplaced: bool = True

    changes: ClassVar[dict[str, str]] = {
        "time": "the loop jumps from event to event, in whole seconds; nothing costs time but running",
        "whole_seconds": "durations and times of submission are cut down to whole seconds",
        "oversized_wait": "a job that is larger than the cluster waits for ever, and blocks fifo",
        "end": "the run stops silently when no job runs and none is to come, even if jobs wait",
        "sjf": "is preemptive, and the job with the fewest GPUs goes first",
        "lpjf": "is fifo, but the job behind one that starts is passed over at that event",
        "shortest": "and its kin sort one list again and again, so that ties follow its history",
        "misplaced": "shortest-expected writes what it expects of a running job onto the one that came last",
        "dlas": "and its kin count GPUs whatever the scheme; a lower queue uses what a higher cannot",
        "late_demotion": "the wake-up for a demotion is miscalculated: late for jobs of several GPUs",
        "running_first": "after each event, the running jobs of a queue go before its waiting jobs",
        "stale_completion": "a job due to end at a submission, and preempted before, ends there all the same",
        "own_index": "Gittins indices count ended samples with their whole size, for one quantum of 3250 s",
        "gittins": "is sorted the wrong way round, by mixed service (it crashes as shipped; this is mended)",
        "dlas-gpu-gittins-1": "and -2, -4, -8 have their index switched off: they equal dlas-gpu-1, ...",
        "dlas-gpu-pack": "equals dlas-gpu, since every model takes whole GPUs",
        "multi-dlas-gpu": "sets GPUs aside per GPU count every 600 s; nothing starts before the first time",
        "scheme=yarn": "first fit within a switch by GPUs, cores and memory; also under any unknown name",
        "memfix=false": "emptying the cluster does not give memory back: nodes fill up, and jobs are lost",
        "scheme=greedy": "allocates nothing: every job starts at once (`unlimited_gpus`)",
    }

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise BloxError(
                f"no schedule is called {self.schedule!r}"
                if self.schedule != "gandiva"
                else "the schedule gandiva is not reproduced",
                fix=suggestion(self.schedule, SCHEDULES),
            )
        if self.scheme in NOT_REPRODUCED:
            raise BloxError(
                f"the scheme {self.scheme} is not reproduced: {NOT_REPRODUCED[self.scheme]}",
                fix="use scheme=count, yarn or greedy",
            )
        if self.schedule == "multi-dlas-gpu" and self.scheme != "count":
            raise BloxError(f"multi-dlas-gpu with scheme={self.scheme}", fix="it runs with scheme=count only")
        if not 1 <= self.num_queue <= len(self.queue_limit) + 1 or min(self.queue_limit, default=1) < 1:
            raise BloxError(
                f"num_queue is {self.num_queue}, queue_limit is {'+'.join(map(str, self.queue_limit))}",
                fix="give every queue but the last a limit of 1 or more: num_queue=3,queue_limit=3250+7200",
            )

    def compose(self, round_s: float) -> Composition:
        waits_on_own_time = self.schedule in (*QUEUED, "gittins", "multi-dlas-gpu")
        stale = waits_on_own_time and self.stale_completion
        return Composition(
            admission=AcceptAll(),
            scheduler=self._scheduler(),
            placement=self._placement(),
            termination=StaleCompletion() if stale else Completed(),
            performance=Duration(),
            options=SimulationOptions(
                whole_seconds=True,
                oversized_wait=True,
                unlimited_gpus=self.scheme == "greedy" and self.schedule in IN_LINE,
            ),
            clock=Events(quantum_s=1.0),
            manager=SilentEnd,
            replaces=("preemptions",),
        )

    def _scheduler(self) -> SchedulingPolicy:
        name = self.schedule
        if name in QUEUED:
            return self._queues()
        if name == "multi-dlas-gpu":
            return Groups(late_demotion=self.late_demotion, running_first=self.running_first)
        if name == "gittins":
            index_table(self.distribution)
            return IndexOrder(self.distribution, worst_first=self.misplaced)
        if name == "shortest-expected":
            expected_table(self.distribution)
            return ShortestExpected(self.distribution, misplaced=self.misplaced)
        counted = self.scheme in ("count", "greedy")
        in_line: dict[str, SchedulingPolicy] = {
            "fifo": InTurn("none") if counted else Fifo(strict=True),
            "fjf": InTurn("misfits") if counted else Fifo(strict=False),
            "lpjf": InTurn("next") if counted else EveryOther(),
            "sjf": Sjf(preempt=True),
            "shortest": Shortest("time", counted),
            "shortest-gpu": Shortest("gpu-time", counted),
        }
        return in_line[name]

    def _queues(self) -> Mlfq:
        index: Literal["", "simulator", "textbook"] = ""
        if self.schedule == "dlas-gpu-gittins":
            index = "simulator" if self.own_index else "textbook"
            index_table(self.distribution)
        return Mlfq(
            limits=self.queue_limit[: self.num_queue - 1],
            by="time" if self.schedule == "dlas" else "gpu-time",
            promote=QUEUED[self.schedule],
            index=index,
            distribution=self.distribution,
            late_demotion=self.late_demotion,
            running_first=self.running_first,
        )

    def _placement(self) -> PlacementPolicy:
        if self.schedule not in IN_LINE or self.scheme in ("count", "greedy"):
            return Counted()
        repack = self.schedule in REPACKED
        return HostYarn(repack=repack, leak=repack and not self.memfix)
