"""Named random streams of failures: each node and each job draws from its own, derived from the seed."""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, name: str, number: int) -> np.random.Generator:
    """The stream of one node or job: the same for every scheduler, whatever the others draw."""
    key = (zlib.crc32(name.encode()), number)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
