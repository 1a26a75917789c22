"""What fails in a simulation, and when: one small file per source of node events.

A source is a frozen dataclass with `node_events(cluster, seed)`, an iterator of NodeEvents in order of time.
It depends on the cluster, the seed and its parameters alone: every scheduler meets the same failures.
"""

from __future__ import annotations

from blox.registry import lazy_package

__getattr__ = lazy_package(__name__, "failures")
