"""run_exit(): two-phase exits of a job on several nodes, under a network that loses and delays messages.

No part fails here. So all ranks must leave after the same iteration, by themselves: none is killed, and none
waits for ever, however slow a rank or a message is. The job comes back and leaves again, so that messages of
the exit before reach the ranks of the next epoch.
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
EPOCHS = 2
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
    """A job of four ranks on one to four nodes, whose lease is revoked in each of its epochs."""

    def __init__(self, seed: int, machines: Machines) -> None:
        self.world = world = World(seed)
        rng, network = world.rng, Network(world)
        self.checks = Checks(1, 1)
        self.gangs = SlowGangs(world, self.checks, machines)
        self.gangs.work["job"] = Training(1_000_000, rng.uniform(0.05, 0.5))
        self._network, self._epoch, self._stop = network, 1, False
        self._left: set[str] = set()  # nodes that have told the end of this epoch
        names = [f"node-{i}" for i in range(rng.randint(1, RANKS))]
        homes = sorted([*names, *rng.choices(names, k=RANKS - len(names))])  # the node of each rank
        self._ranks = {name: tuple(r for r, home in enumerate(homes) if home == name) for name in names}
        network.receivers[SCHEDULER] = self._reported
        for name in names:
            node = NodeHost(name, RANKS, world, network, self.gangs, machines.worker, TIMING, central=False)
            node.crashes = 0.0
        world.faulty = True
        world.after(rng.uniform(1.0, 20.0), self._revoke)

    def run(self) -> int:
        """The iteration after which all ranks left for the last time. Raises Violation."""
        ranks = RANKS * EPOCHS
        self.world.run_until(HORIZON_S, lambda: len(self.gangs.ends) == ranks)
        if self.gangs.ends != ["left"] * ranks:
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
        if any(part.epoch == self._epoch and not part.live for part in message.parts):
            self._left.add(sender)
        if len(self._left) == len(self._ranks) and self._epoch < EPOCHS:
            self._epoch, self._stop, self._left = self._epoch + 1, False, set()
            self.world.after(self.world.rng.uniform(1.0, 20.0), self._revoke)
        names, ranks = tuple(self._ranks), self._ranks[sender]
        spec = JobSpec(("train",), RANKS, name="job")
        grant = Grant(1, self._epoch, ranks, ranks, RANKS, names, names, self._stop, spec)
        version = 2 * self._epoch + self._stop
        self._network.send(
            SCHEDULER, sender, Assignment(sender, message.incarnation, version, message.number, (grant,))
        )


def run_exit(seed: int, machines: Machines | None = None) -> Exit:
    """Runs the exits of one job. Raises Violation, always the same one for the same seed."""
    made = Exit(seed, machines or Machines())
    made.run()
    return made
