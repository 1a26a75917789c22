"""Simulated training: ranks that meet in every iteration, save checkpoints, crash, hang and leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from blox.cluster.chaos.checks import Checks
from blox.cluster.chaos.world import World
from blox.cluster.protocol.messages import Outcome
from blox.cluster.protocol.rank import NEVER, Lease, Step


@dataclass
class SimulatedLease:
    """The memory that a rank shares with its worker manager."""

    central: bool
    revoked: bool = False
    proposed: int = NEVER
    exit_at: int = NEVER
    asked: int = NEVER
    allowed: int = NEVER


@dataclass(eq=False)
class Process:
    """A live process of one rank. `told` hands over what the worker manager reads from the lease."""

    job: int
    epoch: int
    rank: int
    world: int
    node: str
    slot: int
    lease: SimulatedLease
    told: Callable[[Process, str, int], None]
    ended: Callable[[Process, Outcome, str], None]
    iteration: int = 0
    alive: bool = True
    waiting: bool = False
    terminated: bool = False


@dataclass
class Training:
    """What one job does: a property of the job, whatever happens to it."""

    iterations: int
    iteration_s: float
    crash_at: int = -1  # the iteration in which it crashes
    crashes: int = 0  # how many times yet
    saved: int = 0  # the iteration of its checkpoint: on storage that outlives every process
    reached: int = 0
    arrived: dict[tuple[int, int], list[Process]] = field(default_factory=dict)  # (epoch, iteration) -> ranks


class Gangs:
    """All processes. `at_boundary` is what ranks do; `work` what jobs do, by their names."""

    def __init__(
        self,
        world: World,
        checks: Checks,
        checkpoint_every: int,
        at_boundary: Callable[[int, int, int, Lease], Step],
    ) -> None:
        self._world, self.checks, self._every = world, checks, checkpoint_every
        self._at_boundary = at_boundary
        self.work: dict[str, Training] = {}
        self.training: dict[int, Training] = {}  # the same by the numbers of jobs that have started
        self._hangs = world.rng.choice((0, 0, 0.1))
        self._slow = world.rng.choice((0, 0, 0.02))
        self._dies = world.rng.choice((0, 0, 0.002))

    def start(self, process: Process) -> None:
        job = self.training[process.job]
        process.iteration = job.saved
        self.checks.started(process, job.saved, job.reached)
        self._world.after(self._world.rng.uniform(0.05, 0.8), self._boundary, process)

    def end(self, process: Process, outcome: Outcome, detail: str = "") -> None:
        """The process is gone. The ranks that wait for it hang, or notice."""
        if not process.alive:
            return
        process.alive = False
        self.checks.stopped(process)
        if outcome == "failed":
            self.checks.crashes.setdefault(process.job, set()).add(process.epoch)
        if outcome not in ("done", "left"):
            for other in list(self.checks.live[process.job].values()):
                if self._world.rng.random() < 0.5:
                    self._world.after(self._world.rng.uniform(0.1, 3.0), self._peer_lost, other)
        process.ended(process, outcome, detail)

    def wake(self, process: Process) -> None:
        """The lease of a process that waits has changed."""
        if process.waiting:
            process.waiting = False
            self._world.after(0.001, self._boundary, process)

    def _peer_lost(self, process: Process) -> None:
        self.end(process, "failed", "a peer is gone")

    def _boundary(self, process: Process) -> None:
        """The process has completed `process.iteration`."""
        if not process.alive:
            return
        world, job, at = self._world, self.training[process.job], process.iteration
        if process.rank == 0:
            self._lead_progress(process, job)
        if at >= job.iterations:
            self.checks.complete.add(process.job)
            self.end(process, "done")
            return
        if world.chance(self._dies, "rank crashed") or (
            at == job.crash_at and job.crashes and process.rank == process.world - 1
        ):
            job.crashes -= at == job.crash_at and job.crashes > 0
            self.end(process, "failed", "crashed by itself")
            return
        step = (
            "leave"
            if process.terminated
            else self._at_boundary(process.rank, process.world, at, process.lease)
        )
        if process.lease.exit_at != NEVER:
            self.checks.exit_fixed(process, process.lease.exit_at)
        if (step == "leave" or process.lease.revoked) and world.chance(self._hangs, "rank hung"):
            return  # it stands still until it is killed
        if step == "leave":
            self._leave(process, job)
        elif step == "wait":
            process.waiting = True
            self._world.after(world.rng.uniform(0.0, 0.05), self._tell, process)
        else:
            self.checks.goes_on(process)
            self._meet(process, job)

    def _lead_progress(self, process: Process, job: Training) -> None:
        at = process.iteration
        job.reached = max(job.reached, at)
        if at % self._every == 0:
            job.saved = at
        process.told(process, "progress", at)

    def _leave(self, process: Process, job: Training) -> None:
        """After a checkpoint. Ranks that were told by a signal do not agree on the iteration."""
        if not process.terminated:
            self.checks.left(process, process.iteration)
        if process.rank == 0:
            job.saved = process.iteration
            process.told(process, "progress", process.iteration)
        self.end(process, "left")

    def _tell(self, process: Process) -> None:
        if process.alive and process.waiting:
            lease = process.lease
            if lease.proposed != NEVER:
                process.told(process, "proposed", lease.proposed)
            elif lease.asked != NEVER:
                process.told(process, "asked", lease.asked)

    def _meet(self, process: Process, job: Training) -> None:
        """The next iteration completes when all ranks take part in it."""
        process.iteration += 1
        key: Any = process.epoch, process.iteration
        there = job.arrived.setdefault(key, [])
        there.append(process)
        if len(there) == process.world:
            del job.arrived[key]
            rng = self._world.rng
            for rank in there:
                late = self._world.chance(self._slow, "rank slow")
                slow = rng.uniform(5, 30) if late else rng.uniform(0.8, 1.2)
                self._world.after(job.iteration_s * slow, self._boundary, rank)
