"""Simulated users: they submit, cancel, change policies and drain nodes, and repeat themselves until
answered."""

from __future__ import annotations

from collections.abc import Callable

from blox.cluster.chaos.checks import Checks, Violation
from blox.cluster.chaos.world import Network, World
from blox.cluster.protocol.messages import (
    SCHEDULER,
    Accepted,
    Cancel,
    JobSpec,
    Message,
    Refused,
    Request,
    SetNode,
    SetPolicies,
    Submit,
)

USER = "user"
_AGAIN_S = 2.0  # a request without an answer is repeated
POLICIES = ("fifo", "las", "srtf", "tiresias", "fifo-priority")
PLACEMENTS = ("first-free", "consolidated:fallback=spread", "fragments")
ADMISSIONS = ("accept-all", "threshold:factor=1.5")


class Users:
    """`journal` gives what is durable, to be looked at when an answer comes."""

    def __init__(
        self,
        world: World,
        network: Network,
        checks: Checks,
        journal: Callable[[], dict[str, bytes]],
    ) -> None:
        self._world, self._network, self._checks = world, network, checks
        self._journal = journal
        self._open: dict[str, Request] = {}
        network.receivers[USER] = self._answered

    @property
    def satisfied(self) -> bool:
        return not self._open

    def submit(self, spec: JobSpec) -> None:
        self._ask(Submit(f"submit-{spec.name}", spec))

    def cancel_some(self) -> None:
        known = sorted(self._checks.acknowledged.values())
        if known:
            job = self._world.rng.choice(known)
            self._checks.cancelled.add(job)
            self._ask(Cancel(f"cancel-{job}", job))

    def change_policies(self) -> None:
        rng = self._world.rng
        chosen = rng.choice(ADMISSIONS), rng.choice(POLICIES), rng.choice(PLACEMENTS)
        self._ask(SetPolicies(f"policies-{rng.random()}", *chosen))

    def drain(self, node: str) -> None:
        rng = self._world.rng
        self._ask(SetNode(f"drain-{rng.random()}", node, rng.choice(("draining", "down"))))

    def bring_back(self, node: str) -> None:
        self._ask(SetNode(f"up-{self._world.rng.random()}", node, "up"))

    def _ask(self, request: Request) -> None:
        self._world.seen[f"user: {type(request).__name__}"] += 1
        self._open[request.request] = request
        self._send(request)

    def _send(self, request: Request) -> None:
        if request.request in self._open:
            self._network.send(USER, SCHEDULER, request)
            self._world.after(_AGAIN_S, self._send, request)

    def _answered(self, message: Message, sender: str) -> None:
        if isinstance(message, Refused):
            request = self._open.pop(message.request, None)
            if isinstance(request, Submit):
                raise Violation(f"{message.request} was refused: {message.what}")
        elif isinstance(message, Accepted):
            self._open.pop(message.request, None)
            if message.job >= 0:
                self._checks.acknowledge(message.request, message.job, self._journal())
