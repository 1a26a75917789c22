"""World: simulated time. Network: loses, delays, repeats and reorders messages between addresses."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from blox.cluster.protocol.messages import Message


class World:
    """Events in order of time. Everything random in a history is drawn from `rng`."""

    def __init__(self, seed: int) -> None:
        self.now = 0.0
        self.rng = random.Random(seed)
        self.faulty = False  # until faults begin, and after they have ceased
        self.seen: Counter[str] = Counter()  # what happened, by kind
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._serial = 0

    def after(self, delay_s: float, act: Callable[..., None], *args: Any) -> None:
        self._serial += 1
        heapq.heappush(self._events, (self.now + delay_s, self._serial, act, args))

    def run_until(self, time_s: float, over: Callable[[], bool]) -> None:
        """Executes events until a time, or until nothing is left to be done."""
        while self._events and self._events[0][0] <= time_s and not over():
            self.now, _, act, args = heapq.heappop(self._events)
            act(*args)

    def chance(self, probability: float, kind: str) -> bool:
        """Whether a fault of some kind happens now."""
        if not (self.faulty and probability and self.rng.random() < probability):
            return False
        self.seen[kind] += 1
        return True


class Network:
    """`receivers` take (message, sender). Messages to an address without one are lost."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.receivers: dict[str, Callable[[Message, str], None]] = {}
        self.cut: set[frozenset[str]] = set()  # pairs of addresses that cannot reach one another
        rng = world.rng
        self._slowest_s = rng.choice((0.1, 0.1, 0.1, 0.8))
        self._drop = rng.choice((0.0, 0.02, 0.2))
        self._repeat = rng.choice((0.0, 0.05, 0.3))
        self._late = rng.choice((0.0, 0.03, 0.15))
        self._sent = 0
        self._latest: dict[tuple[str, str], int] = {}  # of each link: the latest message that was delivered

    def send(self, sender: str, address: str, message: Message) -> None:
        world = self._world
        if frozenset((sender, address)) in self.cut:
            world.seen["cut off"] += 1
            return
        if world.chance(self._drop, "dropped"):
            return
        self._sent += 1
        world.after(self._delay(), self._deliver, sender, address, message, self._sent)
        if world.chance(self._repeat, "repeated"):
            world.after(self._delay(), self._deliver, sender, address, message, self._sent)

    def _delay(self) -> float:
        world = self._world
        if world.chance(self._late, "delayed"):
            return world.rng.uniform(0.5, 25.0)
        return world.rng.uniform(0.001, self._slowest_s)

    def _deliver(self, sender: str, address: str, message: Message, number: int) -> None:
        before = self._latest.get((sender, address), 0)
        self._latest[sender, address] = max(before, number)
        if number < before:
            self._world.seen["reordered"] += 1
        receiver = self.receivers.get(address)
        if receiver is not None:
            receiver(message, sender)
