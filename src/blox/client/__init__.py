"""What a training script imports: a loader that checks its lease at every iteration, and a collector of
metrics.

    >>> from blox.client import BloxDataLoader, MetricsCollector

Outside of a cluster both do nothing but pass data through, so that the same script runs anywhere. Neither
imports torch.
"""

from __future__ import annotations

from blox.client.checkpoint import Checkpoint
from blox.client.loader import BloxDataLoader
from blox.client.metrics import MetricsCollector
from blox.client.reducer import Reducer
from blox.cluster.protocol.rank import LEFT

__all__ = ["LEFT", "BloxDataLoader", "Checkpoint", "MetricsCollector", "Reducer"]
