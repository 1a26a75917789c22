"""Interference: which jobs slow each other down by averaging gradients over the same node's network."""

from __future__ import annotations

import numpy as np

from blox.workloads.table import Array


def interfering(held: Array) -> Array:
    """Which jobs suffer (a truth value each), from the GPUs of every job on every node (jobs x nodes).

    Those that span nodes and meet another such job on one of them; a job on a single node never does. Works
    on populations as well (... x jobs x nodes).
    """
    there = np.asarray(held) > 0
    spanning = there & (there.sum(axis=-1, keepdims=True) > 1)
    crowded = spanning.sum(axis=-2, keepdims=True) > 1
    return np.asarray((spanning & crowded).any(axis=-1))
