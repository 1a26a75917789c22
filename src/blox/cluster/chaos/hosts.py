"""Hosts of the state machines: they keep the journal, the clock and the processes, and can be killed or
stopped."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from blox.cluster.central.records import Policies
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.chaos.checks import Checks, Violation
from blox.cluster.chaos.gangs import Gangs, Process, SimulatedLease
from blox.cluster.chaos.world import Network, World
from blox.cluster.protocol import outputs
from blox.cluster.protocol.messages import SCHEDULER, Message, Outcome, PartReport, Report
from blox.cluster.protocol.outputs import Outputs
from blox.cluster.protocol.timing import Timing
from blox.cluster.protocol.worker import WorkerManager

T = TypeVar("T")


class SchedulerHost:
    """Runs the scheduler; `journal` is what outlives it."""

    def __init__(
        self,
        world: World,
        network: Network,
        checks: Checks,
        machine: Callable[..., CentralScheduler],
        timing: Timing,
        policies: Policies,
    ) -> None:
        self._world, self._network, self._checks = world, network, checks
        self._machine, self._timing, self._policies = machine, timing, policies
        self.journal: dict[str, bytes] = {}
        self.scheduler: CentralScheduler | None = None
        self._waiting: list[tuple[Message, str]] | None = None  # what it is sent while it is stopped
        self._timer_s = math.inf
        self._crashes = world.rng.choice((0, 0, 0.005))  # in the middle of a step
        self._gathers = world.rng.choice((0, 0, 0.7))  # how often a step is stored together with later ones
        self._taken: list[Outputs] = []  # of steps that are not stored yet
        network.receivers[SCHEDULER] = self._receive
        self.start()

    def start(self) -> None:
        if self.scheduler is None:
            self.scheduler = self._machine(self.journal, self._timing, self._world.now, self._policies)
            self._timer_s, self._taken = math.inf, []
            self._carry_out(self.scheduler.start())

    def crash(self) -> None:
        """Kills the scheduler; it starts again after a while."""
        if self.scheduler is not None:
            self._world.seen["scheduler crashed"] += 1
            self.scheduler = self._waiting = None
            self._world.after(self._world.rng.uniform(0.1, 15.0), self.start)

    def pause(self, duration_s: float) -> None:
        """Stops the scheduler as SIGSTOP does; what it is sent meanwhile waits."""
        if self.scheduler is not None and self._waiting is None:
            self._world.seen["scheduler stopped"] += 1
            self._waiting = []
            self._world.after(duration_s, self._resume, self.scheduler)

    def _resume(self, scheduler: CentralScheduler) -> None:
        if self.scheduler is scheduler and self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            scheduler.stood_still(max(0.0, self._world.now - scheduler.wake_s))
            self._tick(scheduler)
            for message, sender in waiting:
                self._receive(message, sender)

    def _receive(self, message: Message, sender: str) -> None:
        if self._waiting is not None:
            self._waiting.append((message, sender))
        elif self.scheduler is not None:
            self._carry_out(_stepped(self.scheduler.receive, message, sender, self._world.now))

    def _tick(self, scheduler: CentralScheduler) -> None:
        if self.scheduler is scheduler and self._waiting is None:
            self._timer_s = math.inf
            self._carry_out(_stepped(scheduler.tick, self._world.now))

    def _carry_out(self, out: Outputs) -> None:
        """Stores what a step changed now, or soon, together with the steps in between."""
        self._taken.append(out)
        if self._world.chance(self._gathers, "stored together"):
            self._world.after(self._world.rng.uniform(0.001, 0.1), self._flush, self.scheduler)
        else:
            self._flush(self.scheduler)

    def _flush(self, scheduler: CentralScheduler | None) -> None:
        """Saves, then sends. A crash may come before, in between, or among the messages."""
        if scheduler is None or self.scheduler is not scheduler:
            return
        if self._waiting is not None:
            self._world.after(0.5, self._flush, scheduler)
            return
        saves = [each for out in self._taken for each in out.saves]
        sends = [each for out in self._taken for each in out.sends]
        taken, self._taken = self._taken, []
        if self._world.chance(self._crashes, "scheduler crashed in a step"):
            self.crash()
            if self._world.rng.random() < 0.5:
                return
            sends = sends[: self._world.rng.randint(0, len(sends))]
        for key, value in saves:
            if value is None:
                self.journal.pop(key, None)
            else:
                self.journal[key] = value
        self._checks.committed(saves)
        self._checks.noted(each for out in taken for each in out.notes)
        if scheduler.fault:
            raise Violation(f"a round failed: {scheduler.fault}")
        for address, message in sends:
            self._network.send(SCHEDULER, address, message)
        if self.scheduler is not None and scheduler.wake_s < self._timer_s:
            self._timer_s = scheduler.wake_s
            self._world.after(max(0.0, self._timer_s - self._world.now), self._tick, scheduler)


def _stepped(act: Callable[..., T], *args: Any) -> T:
    """The outputs of a machine. One that raises has broken down, which none ever should."""
    try:
        return act(*args)
    except Exception as error:
        raise Violation(f"a machine broke down: {type(error).__name__}: {error}") from error


@dataclass
class Clock:
    """A node's own clock: it may be hours off, and runs a little fast or slow."""

    offset_s: float
    rate: float

    def local(self, time_s: float) -> float:
        return time_s * self.rate + self.offset_s

    def true(self, local_s: float) -> float:
        return (local_s - self.offset_s) / self.rate


class NodeHost:
    """Runs a worker manager and the processes of its node, each under a guard that knows the lease."""

    def __init__(
        self,
        name: str,
        gpus: int,
        world: World,
        network: Network,
        gangs: Gangs,
        machine: Callable[..., WorkerManager],
        timing: Timing,
        central: bool,
    ) -> None:
        self.name, self._gpus, self._central = name, gpus, central
        self._world, self._network, self._gangs = world, network, gangs
        self._machine, self._timing = machine, timing
        self._clock = Clock(world.rng.uniform(-4000.0, 4000.0), world.rng.uniform(0.995, 1.005))
        self.worker: WorkerManager | None = None
        self.processes: dict[tuple[int, int, int], Process] = {}
        self.disk: dict[str, bytes] = {}  # what outlives the worker manager
        self._incarnation = 0
        self._paused = False
        self._inputs: list[tuple[Callable[..., Outputs | None], tuple[Any, ...]]] = []  # while it is paused
        self._timer_s = math.inf
        self.crashes = world.rng.choice((0, 0, 0.002))  # how often, in the middle of a step
        self._lease_until_s = math.inf
        network.receivers[name] = lambda message, sender: self._input(self._receive, message)
        self.start()

    # -- the worker manager -------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the worker manager, once no process of its predecessor is left."""
        if self.worker is not None:
            return
        if self.processes:
            self._world.after(0.1, self.start)
            return
        self._incarnation += 1
        self._paused, self._inputs = False, []
        identity = Report(self.name, self._incarnation, 0, 0, self._gpus, (), identity=self.name)
        self.worker = self._machine(identity, self._timing, self._local(), self.disk.values())
        self._timer_s = math.inf
        self._input(self._ticked)

    def crash(self) -> None:
        """Kills the worker manager. The guards of its processes notice, and kill these."""
        if self.worker is None:
            return
        self._world.seen["worker manager crashed"] += 1
        self.worker = None
        for process in list(self.processes.values()):
            self._world.after(self._world.rng.uniform(0.0, 0.3), self._kill_now, process, "killed")
        self._world.after(self._world.rng.uniform(0.1, 20.0), self.start)

    def pause(self, duration_s: float) -> None:
        """Stops the worker manager as SIGSTOP does; its processes go on."""
        if self.worker is not None and not self._paused:
            self._world.seen["worker manager stopped"] += 1
            self._paused = True
            self._world.after(duration_s, self._resume, self.worker)

    def _resume(self, worker: WorkerManager) -> None:
        if self.worker is worker and self._paused:
            self._paused, inputs, self._inputs = False, self._inputs, []
            for act, args in inputs:
                self._input(act, *args)
            self._input(self._ticked)

    def _input(self, act: Callable[..., Outputs | None], *args: Any) -> None:
        if self.worker is None:
            return
        if self._paused:
            self._inputs.append((act, args))
            return
        worker = self.worker
        out = _stepped(act, *args)
        crashes = self._world.chance(self.crashes, "worker manager crashed in a step")
        if out is not None:
            if crashes:  # among its messages, or among what it does to its processes
                if out.saves and self._world.rng.random() < 0.5:  # before anything is stored
                    out = Outputs()
                out.sends = out.sends[: self._world.rng.randint(0, len(out.sends))]
                out.actions = out.actions[: self._world.rng.randint(0, len(out.actions))]
            self._store(out.saves)
            for address, message in out.sends:
                self._network.send(self.name, address, message)
            for action in out.actions:
                self._carry_out(action)
        if crashes:
            self.crash()
            return
        due_s = self._clock.true(worker.wake_s)
        if due_s < self._timer_s:
            self._timer_s = due_s
            self._world.after(max(0.001, due_s - self._world.now), self._timer, worker)

    def _store(self, saves: list[tuple[str, bytes | None]]) -> None:
        for key, value in saves:
            if value is None:
                self.disk.pop(key, None)
            else:
                self.disk[key] = value
                self._gangs.checks.stored(self.name, msgspec.msgpack.decode(value, type=PartReport))

    def _timer(self, worker: WorkerManager) -> None:
        if self.worker is worker:
            self._timer_s = math.inf
            self._input(self._ticked)

    def _ticked(self) -> Outputs:
        assert self.worker is not None
        return self.worker.tick(self._local())

    def _receive(self, message: Message) -> Outputs:
        assert self.worker is not None
        return self.worker.receive(message, self._local())

    def _local(self) -> float:
        return self._clock.local(self._world.now)

    # -- processes ----------------------------------------------------------------------------------

    def _carry_out(self, action: outputs.Action) -> None:
        if isinstance(action, outputs.Start):
            self._start_process(action)
            return
        if isinstance(action, outputs.ExtendLease):
            self._extend_lease(self._clock.true(action.until_s))
            return
        process = self.processes.get((action.job, action.epoch, action.rank))
        if process is None:
            return
        if isinstance(action, outputs.Kill):
            self._world.after(self._world.rng.uniform(0.001, 0.8), self._kill_now, process, "killed")
        elif isinstance(action, outputs.Terminate):
            process.terminated = True
        elif isinstance(action, outputs.Revoke):
            process.lease.revoked = True
        elif isinstance(action, outputs.FixExit):
            process.lease.exit_at = action.iteration
        else:
            process.lease.allowed = action.iteration
        self._gangs.wake(process)

    def _start_process(self, action: outputs.Start) -> None:
        grant, lease = action.grant, SimulatedLease(self._central)
        self._gangs.training.setdefault(grant.job, self._gangs.work[grant.spec.name])
        key = grant.job, grant.epoch, action.rank
        process = Process(*key, grant.world, self.name, action.slot, lease, self._told, self._ended)
        self.processes[key] = process
        self._gangs.start(process)

    def _kill_now(self, process: Process, outcome: Outcome) -> None:
        self._gangs.end(process, outcome)

    def _extend_lease(self, until_s: float) -> None:
        """The guards' clocks: at the end of the lease everything is killed, unless it was extended."""
        if self._lease_until_s == math.inf:
            self._world.after(until_s - self._world.now, self._guard)
        self._lease_until_s = until_s

    def _guard(self) -> None:
        if self._lease_until_s > self._world.now:
            self._world.after(self._lease_until_s - self._world.now, self._guard)
            return
        self._lease_until_s = math.inf
        for process in list(self.processes.values()):
            self._kill_now(process, "lost")

    def _told(self, process: Process, what: str, iteration: int) -> None:
        key = process.job, process.epoch
        if what == "progress":
            saved = self._gangs.training[process.job].saved
            self._input(lambda: self.worker.progressed(key, iteration, saved, {}))  # type: ignore[union-attr]
        elif what == "proposed":
            self._input(lambda: self.worker.proposed(key, iteration, self._local()))  # type: ignore[union-attr]
        else:
            self._input(lambda: self.worker.asked(key, iteration, self._local()))  # type: ignore[union-attr]

    def _ended(self, process: Process, outcome: Outcome, detail: str) -> None:
        key = process.job, process.epoch
        del self.processes[*key, process.rank]
        self._input(
            lambda: self.worker.ended(key, process.rank, outcome, self._local(), detail)  # type: ignore[union-attr]
        )
