"""What a training script imports: a loader that checks its lease at every iteration, and a collector of
metrics.

    >>> from blox.client import BloxDataLoader, MetricsCollector

Outside of a cluster both do nothing but pass data through, so that the same script runs anywhere. Neither
imports torch.
"""

from __future__ import annotations

from blox.client.loader import LEFT, BloxDataLoader
from blox.client.metrics import MetricsCollector
from blox.client.reducer import Reducer

__all__ = ["LEFT", "BloxDataLoader", "MetricsCollector", "Reducer"]
