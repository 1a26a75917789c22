"""GPUs by node, as people write them: `node-3: 12-15`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from blox.errors import BloxError


def places(gpus: tuple[int, ...], experiment: Mapping[str, Any]) -> str:
    """GPUs by node: `node-3: 12-15`; by number alone where the cluster's file is not there any more."""
    from blox.state.cluster_spec import cluster_from_spec

    try:
        nodes = cluster_from_spec(str(experiment.get("cluster", ""))).nodes
    except BloxError:
        return _ranges(gpus)
    ends = np.cumsum([node.gpus for node in nodes])
    by_node: dict[int, list[int]] = {}
    for gpu in gpus:
        by_node.setdefault(int(ends.searchsorted(gpu, side="right")), []).append(gpu)
    if max(by_node, default=0) >= len(nodes):
        return _ranges(gpus)
    return ", ".join(f"{nodes[node].name}: {_ranges(tuple(here))}" for node, here in by_node.items())


def _ranges(numbers: tuple[int, ...]) -> str:
    pieces: list[list[int]] = []
    for number in numbers:
        if pieces and pieces[-1][-1] == number - 1:
            pieces[-1].append(number)
        else:
            pieces.append([number])
    return " ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else f"{p[0]}" for p in pieces)
