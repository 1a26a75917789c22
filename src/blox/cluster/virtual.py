"""Virtual nodes: many worker managers in one process, over the real wire, whose ranks live in memory alone.

For measuring a scheduler under load with few processes. `python -m blox.cluster.virtual DIRECTORY FIRST COUNT
GPUS`. A job runs for as long as its environment's SECONDS says; without it, until it is ended. With
ITERATION_S it tells how many iterations of that length it has done.
"""

from __future__ import annotations

import argparse
import heapq
import signal
import time
from collections.abc import Callable

import msgspec

from blox.cluster.protocol import outputs
from blox.cluster.protocol.messages import (
    SCHEDULER,
    Assignment,
    ExitAt,
    ExitKnown,
    Outcome,
    Renewed,
    Report,
)
from blox.cluster.protocol.outputs import Outputs
from blox.cluster.protocol.timing import Timing
from blox.cluster.protocol.worker import WorkerManager
from blox.cluster.shell.mailbox import Mailbox
from blox.cluster.shell.parent import call_when_parent_ends, run_to_end
from blox.cluster.shell.place import Place
from blox.cluster.shell.wire import Peers, Server

_decode = msgspec.msgpack.Decoder(Assignment | ExitAt | ExitKnown | Renewed).decode
_encode = msgspec.msgpack.encode
SECONDS = "SECONDS"  # the variable that says how long a job runs
ITERATION_S = "ITERATION_S"  # and the one that says how long each of its iterations takes
Key = tuple[int, int]


class VirtualNodes:
    """The nodes `v{first}` and following, at one address. Everything happens on the thread of `run`."""

    def __init__(self, place: Place, first: int, count: int, gpus: int, timing: Timing) -> None:
        self._place, self._timing = place, timing
        self.mailbox = Mailbox()
        self._peers = Peers(place.token())
        self._server = Server("127.0.0.1:0", place.token(), self._deliver)
        self._due: list[tuple[float, int, Callable[[], None]]] = []  # heap: (time, serial, act)
        self._serial = 0
        self._workers: dict[str, WorkerManager] = {}
        self._lead: dict[Key, str] = {}  # the node of rank 0
        self.allowed: dict[Key, tuple[int, float]] = {}  # central renewal: up to where a lead may go, since
        now = time.monotonic()
        for number in range(first, first + count):
            name = f"v{number}"
            identity = Report(name, 1, 0, 0, gpus, (), name, self._server.address)
            self._workers[name] = WorkerManager(identity, timing, now)
            # Spread over a heartbeat, so that nodes do not all report at once.
            self._after(timing.heartbeat_s * (number - first) / count, self._ticked, name)

    def run(self) -> None:
        self.mailbox.run(self._next_s, self._timers, lambda: None)
        self._server.close()
        self._peers.close()

    @property
    def leads(self) -> list[Key]:
        """The jobs, with their epochs, whose lead runs here."""
        return list(self._lead)

    def ask(self, key: Key, iteration: int) -> None:
        """Central renewal: a lead asks to go beyond an iteration; `allowed` tells when it may."""
        node = self._lead[key]
        self._carry_out(node, self._workers[node].asked(key, iteration, time.monotonic()))

    # -- time ----------------------------------------------------------------------------------------

    def _next_s(self) -> float:
        return self._due[0][0] if self._due else time.monotonic() + 1.0

    def _timers(self) -> None:
        while self._due and self._due[0][0] <= time.monotonic():
            heapq.heappop(self._due)[2]()

    def _after(self, delay_s: float, act: Callable[..., None], *given: object) -> None:
        self._serial += 1
        heapq.heappush(self._due, (time.monotonic() + delay_s, self._serial, lambda: act(*given)))

    def _ticked(self, node: str) -> None:
        worker = self._workers[node]
        self._carry_out(node, worker.tick(time.monotonic()))
        self._after(max(0.01, worker.wake_s - time.monotonic()), self._ticked, node)

    # -- messages and ranks --------------------------------------------------------------------------

    def _deliver(self, data: bytes) -> str:
        message = _decode(data)
        return "" if self.mailbox.offer(lambda: self._receive(message)) else "too much to do"

    def _receive(self, message: Assignment | ExitAt | ExitKnown | Renewed) -> None:
        if isinstance(message, Assignment):
            node = message.node
        elif isinstance(message, Renewed):
            node = self._lead.get((message.job, message.epoch), "")
        else:
            return  # ranks in memory do not meet, and need not leave together
        if node:
            self._carry_out(node, self._workers[node].receive(message, time.monotonic()))

    def _carry_out(self, node: str, out: Outputs) -> None:
        for address, message in out.sends:
            if address == SCHEDULER:
                self._peers.send(self._place.address(), _encode(message))
        for action in out.actions:
            if isinstance(action, outputs.Start):
                self._start(node, action)
            elif isinstance(action, outputs.Kill):
                self._after(0.0, self._end, node, (action.job, action.epoch), action.rank, "killed")
            elif isinstance(action, outputs.Terminate | outputs.Revoke):
                self._after(0.0, self._end, node, (action.job, action.epoch), action.rank, "left")
            elif isinstance(action, outputs.Allow):
                self.allowed[action.job, action.epoch] = action.iteration, time.monotonic()

    def _start(self, node: str, action: outputs.Start) -> None:
        key, environment = action.grant.key, action.grant.spec.environment
        seconds, iteration_s = environment.get(SECONDS), environment.get(ITERATION_S)
        if action.rank == 0:
            self._lead[key] = node
            if iteration_s is not None:
                self._after(float(iteration_s), self._iterate, node, key, float(iteration_s), 1)
        if seconds is not None:
            self._after(float(seconds), self._end, node, key, action.rank, "done")

    def _iterate(self, node: str, key: Key, iteration_s: float, done: int) -> None:
        if key in self._lead:
            self._workers[node].progressed(key, done, -1, {})
            self._after(iteration_s, self._iterate, node, key, iteration_s, done + 1)

    def _end(self, node: str, key: Key, rank: int, outcome: Outcome) -> None:
        worker = self._workers[node]
        part = worker.parts.get(key)
        if part is None or rank not in part.live:
            return
        if rank == 0:
            self._lead.pop(key, None)
            self.allowed.pop(key, None)
        self._carry_out(node, worker.ended(key, rank, outcome, time.monotonic()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("gpus", type=int)
    parser.add_argument("--timing", default="{}")
    given = parser.parse_args()
    timing = msgspec.json.decode(given.timing, type=Timing)
    nodes = VirtualNodes(Place.of(given.directory), given.first, given.count, given.gpus, timing)
    signal.signal(signal.SIGTERM, lambda *_: nodes.mailbox.close())
    call_when_parent_ends(nodes.mailbox.close)
    run_to_end(nodes.run)


if __name__ == "__main__":
    main()
