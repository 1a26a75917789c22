"""The real cluster: the same policies and the same manager over training processes on machines.

`protocol/` and `central/` decide, without sockets, clocks or threads; `chaos/` runs them all in one process
under a simulated network with faults.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Client"]


def __getattr__(name: str) -> Any:
    if name == "Client":  # imported when it is asked for: training jobs import this package, too
        from blox.cluster.api import Client

        return Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
