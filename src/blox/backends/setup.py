"""BackendSetup: what a registered backend is given to open one run.

A backend is registered like every other part: a frozen dataclass whose fields are its options, with
`open(setup)`, which returns the live object of one run (`blox.protocols.Backend`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from blox.backends.feed import JobFeed
from blox.errors import BloxError
from blox.failures.job_failures import JobFailures
from blox.failures.node_events import NodeEvents
from blox.foreign import watched_part
from blox.optional import declared
from blox.options import SimulationOptions
from blox.performance.overheads import Overheads
from blox.performance.rates import PerformanceModel
from blox.protocols import Backend


@dataclass(frozen=True)
class BackendSetup:
    """The jobs of the run, and what a simulation needs to know about the world.

    A backend on which jobs take the time that they take ignores all but the feed.
    """

    feed: JobFeed
    performance: PerformanceModel
    overheads: Overheads = field(default_factory=Overheads)
    options: SimulationOptions = field(default_factory=SimulationOptions)
    round_s: float = 300.0
    node_events: NodeEvents | None = None
    job_failures: JobFailures | None = None


class BackendPart(Protocol):
    """A registered backend. One that runs in real time says so by `speedup` (`blox.optional`)."""

    def open(self, setup: BackendSetup) -> Backend:
        """The backend of one run; the caller closes it."""
        ...


def open_backend(part: BackendPart, setup: BackendSetup) -> Backend:
    """The backend of one run. Raises BloxError if it lacks a method of the protocol."""
    backend = watched_part(part).open(setup)
    wanted = {name for cls in Backend.__mro__ for name in vars(cls) if not name.startswith("_")}
    missing = sorted(name for name in wanted if not hasattr(backend, name))
    if missing:
        raise BloxError(
            f"{type(backend).__name__} has no {missing[0]}",
            where=f"backend {type(part).__name__}",
            fix="give it all of blox.protocols.Backend, or derive it from blox.backends.base.BackendBase",
        )
    real_time = declared(part, "speedup") is not None  # its waits last as long as they last
    return watched_part(backend, unlimited=("wait_until",) if real_time else ())
