"""run_exit(): one two-phase exit of a job on several nodes, under a network that loses and delays messages.

No part fails here. So all ranks must leave after the same iteration, by themselves: none is killed, and none
waits for ever, however slow a rank or a message is.
"""

from __future__ import annotations

from blox.cluster.chaos.checks import Checks, Violation
from blox.cluster.chaos.gangs import Gangs, Process, Training
from blox.cluster.chaos.history import Machines
from blox.cluster.chaos.hosts import NodeHost
from blox.cluster.chaos.world import Network, World
from blox.cluster.protocol.messages import SCHEDULER, Assignment, Grant, JobSpec, Message, Outcome, Report
from blox.cluster.protocol.timing import Timing

RANKS = 4
HORIZON_S = 3000.0
# Nothing is killed: an exit that is not agreed on shows as one that never comes.
TIMING = Timing(round_s=1.0, heartbeat_s=0.5, lease_s=5 * HORIZON_S, grace_s=2 * HORIZON_S)
_SLOW = 0.3  # iterations in which a rank takes many times as long


class SlowGangs(Gangs):
    """Ranks that are late at random, and never fail. Notes how each ends."""

    def __init__(self, world: World, checks: Checks, machines: Machines) -> None:
        super().__init__(world, checks, 1, machines.at_boundary)
        self._hangs = self._dies = 0.0
        self._slow = _SLOW
        self.ends: list[Outcome] = []

    def end(self, process: Process, outcome: Outcome, detail: str = "") -> None:
        self.ends.append(outcome)
        super().end(process, outcome, detail)


class Exit:
    """A job of four ranks on one to four nodes, whose lease is revoked at some time."""

    def __init__(self, seed: int, machines: Machines) -> None:
        self.world = world = World(seed)
        rng, network = world.rng, Network(world)
        self.checks = Checks(1, 1)
        self.gangs = SlowGangs(world, self.checks, machines)
        self.gangs.work["job"] = Training(1_000_000, rng.uniform(0.05, 0.5))
        self._network, self._stop = network, False
        names = [f"node-{i}" for i in range(rng.randint(1, RANKS))]
        homes = sorted([*names, *rng.choices(names, k=RANKS - len(names))])  # the node of each rank
        self._ranks = {name: tuple(r for r, home in enumerate(homes) if home == name) for name in names}
        network.receivers[SCHEDULER] = self._reported
        for name in names:
            NodeHost(name, RANKS, world, network, self.gangs, machines.worker, TIMING, central=False)
        world.faulty = True
        world.after(rng.uniform(1.0, 20.0), self._revoke)

    def run(self) -> int:
        """The iteration after which all ranks left. Raises Violation."""
        self.world.run_until(HORIZON_S, lambda: len(self.gangs.ends) == RANKS)
        if self.gangs.ends != ["left"] * RANKS:
            raise Violation(f"ranks ended as {self.gangs.ends}")
        return self.gangs.training[1].saved

    def _revoke(self) -> None:
        """Once all ranks have started: before that, the scheduler has those killed that have."""
        if len(self.checks.live.get(1, ())) < RANKS:
            self.world.after(1.0, self._revoke)
        else:
            self._stop = True

    def _reported(self, message: Message, sender: str) -> None:
        """The scheduler: answers every report with what the node should run."""
        if not isinstance(message, Report):
            return
        names = tuple(self._ranks)
        ranks = self._ranks[sender]
        grant = Grant(
            1, 1, ranks, ranks, RANKS, names, names, self._stop, JobSpec(("train",), RANKS, name="job")
        )
        version = 2 if self._stop else 1
        answer = Assignment(sender, message.incarnation, version, message.number, (grant,))
        self._network.send(SCHEDULER, sender, answer)


def run_exit(seed: int, machines: Machines | None = None) -> int:
    """Runs one exit. Raises Violation, always the same one for the same seed."""
    return Exit(seed, machines or Machines()).run()
