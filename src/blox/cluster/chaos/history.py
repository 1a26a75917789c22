"""run_history(): one seeded history of a whole cluster, from the first submission to the last end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blox.cluster.central.records import Policies
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.chaos.checks import Checks
from blox.cluster.chaos.gangs import Gangs, Training
from blox.cluster.chaos.hosts import NodeHost, SchedulerHost
from blox.cluster.chaos.users import ADMISSIONS, PLACEMENTS, POLICIES, Users
from blox.cluster.chaos.world import Network, World
from blox.cluster.protocol.messages import SCHEDULER, JobSpec
from blox.cluster.protocol.rank import Lease, Step, at_boundary
from blox.cluster.protocol.timing import Timing
from blox.cluster.protocol.worker import WorkerManager

NODES, JOBS = 4, 20
FAULTS_FROM_S, FAULTS_TO_S = 3.0, 90.0
HORIZON_S = 400.0  # by then everything has ended
CHECKPOINT_EVERY = 4  # iterations
TIMING = Timing(
    round_s=3.0, heartbeat_s=1.0, lease_s=10.0, margin_s=1.0, grace_s=4.0, backoff_s=1.0, attempts=3
)


@dataclass(frozen=True)
class Machines:
    """What a history is made of; a test puts a mistaken one in."""

    scheduler: Callable[..., CentralScheduler] = CentralScheduler
    worker: Callable[..., WorkerManager] = WorkerManager
    at_boundary: Callable[[int, int, int, Lease], Step] = at_boundary


class History:
    """A cluster, its users and its misfortunes."""

    def __init__(self, seed: int, machines: Machines) -> None:
        self.world = world = World(seed)
        rng = world.rng
        network = Network(world)
        self.network = network
        self.checks = Checks(CHECKPOINT_EVERY, TIMING.attempts)
        self.gangs = Gangs(world, self.checks, CHECKPOINT_EVERY, machines.at_boundary)
        policies = Policies(rng.choice(ADMISSIONS), rng.choice(POLICIES), rng.choice(PLACEMENTS))
        self.scheduler = SchedulerHost(world, network, self.checks, machines.scheduler, TIMING, policies)
        central = rng.random() < 0.2
        self.nodes = [
            NodeHost(f"node-{i}", 4, world, network, self.gangs, machines.worker, TIMING, central)
            for i in range(NODES)
        ]
        self._wide = rng.random() < 0.4  # jobs span nodes, iterations are short: exits must be agreed on
        self.users = Users(world, network, self.checks, lambda: self.scheduler.journal)
        for number in range(JOBS):
            world.after(rng.uniform(FAULTS_FROM_S, 60.0), self._submit, number)
        for _ in range(rng.randint(4, 14)):
            world.after(rng.uniform(FAULTS_FROM_S, FAULTS_TO_S), self._misfortune)
        world.after(FAULTS_FROM_S, self._begin)
        world.after(FAULTS_TO_S, self._cease)

    def run(self) -> None:
        """Raises Violation."""
        self.world.run_until(HORIZON_S, self._over)
        self.checks.at_end(self.scheduler.journal, JOBS)

    def _over(self) -> bool:
        over = len(self.checks.ends) == JOBS and not self.checks.slots
        return over and self.world.now > FAULTS_TO_S and self.users.satisfied

    def _submit(self, number: int) -> None:
        rng = self.world.rng
        gpus = rng.choice((2, 3, 5, 6, 6) if self._wide else (1, 1, 1, 2, 2, 3, 4, 6))
        iteration_s = rng.uniform(0.1, 0.6) if self._wide else rng.uniform(0.3, 1.5)
        work = Training(rng.randint(2, 16), iteration_s)
        if rng.random() < 0.15:
            work.crash_at, work.crashes = rng.randint(0, work.iterations), rng.randint(1, 4)
        spec = JobSpec(
            ("train",),
            gpus,
            name=str(number),
            priority=float(rng.randint(0, 2)),
            expected_s=rng.choice((None, work.iterations * work.iteration_s)),
            preemption=rng.choice(("iteration", "iteration", "iteration", "signal", "never")),
        )
        self.gangs.work[spec.name] = work
        self.users.submit(spec)

    def _misfortune(self) -> None:
        """One fault or one act of a user."""
        rng, users = self.world.rng, self.users
        node = rng.choice(self.nodes)
        kind = rng.randrange(10)
        if kind == 0:
            self.scheduler.crash()
        elif kind == 1:
            node.crash()
        elif kind == 2:
            node.pause(rng.uniform(0.5, 25.0))
        elif kind == 3:
            self._cut(node.name, rng.choice([SCHEDULER, *(other.name for other in self.nodes)]))
        elif kind == 4:
            for address in [SCHEDULER, *(other.name for other in self.nodes)]:
                self._cut(node.name, address)
        elif kind == 5:
            users.cancel_some()
        elif kind == 6:
            users.change_policies()
        elif kind == 7:
            self.scheduler.pause(rng.uniform(0.5, 25.0))
        elif kind == 8:
            self._kill_some_rank()
        else:
            users.drain(node.name)
            self.world.after(rng.uniform(1.0, 30.0), users.bring_back, node.name)

    def _kill_some_rank(self) -> None:
        """At any moment: in an iteration, while it waits for others, or on its way out."""
        processes = [process for node in self.nodes for process in node.processes.values()]
        if processes:
            self.world.seen["rank killed"] += 1
            self.gangs.end(self.world.rng.choice(processes), "failed", "killed by a signal")

    def _cut(self, one: str, other: str) -> None:
        if one != other:
            pair = frozenset((one, other))
            self.network.cut.add(pair)
            self.world.after(self.world.rng.uniform(0.5, 30.0), self.network.cut.discard, pair)

    def _begin(self) -> None:
        self.world.faulty = True

    def _cease(self) -> None:
        self.world.faulty = False
        self.network.cut.clear()
        for node in self.nodes:
            self.users.bring_back(node.name)


def run_history(seed: int, machines: Machines | None = None) -> History:
    """Runs a history to its end. Raises Violation, always the same one for the same seed."""
    history = History(seed, machines or Machines())
    history.run()
    return history
