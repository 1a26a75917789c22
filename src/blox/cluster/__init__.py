"""The real cluster: the same policies and the same manager over training processes on machines.

`protocol/` and `central/` decide, without sockets, clocks or threads; `chaos/` runs them all in one process
under a simulated network with faults.
"""

from __future__ import annotations

import importlib
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from blox.cluster.api import Client
    from blox.cluster.protocol.timing import Timing
    from blox.cluster.shell.local import local_cluster

__all__ = ["Client", "Timing", "local_cluster"]

# Imported when they are asked for: training jobs import this package, too.
_HOMES = {"Client": "api", "Timing": "protocol.timing", "local_cluster": "shell.local"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"blox.cluster.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
