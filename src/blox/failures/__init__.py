"""What fails in a simulation, and when: one small file per source of node events.

A source is a frozen dataclass with `node_events(cluster, seed)`, an iterator of NodeEvents in order of time.
It depends on the cluster, the seed and its parameters alone: every scheduler meets the same failures.
`node_events.py` is the stream of them that a backend reads, `job_failures.py` says when jobs fail by
themselves, `checkpoints.py` what a job keeps.
"""

from __future__ import annotations

from blox.registry import lazy_package

__getattr__ = lazy_package(__name__, "failures")
