"""The cluster of a run, as its map needs it: nodes in racks, with their GPUs by number."""

from __future__ import annotations

from typing import Any

from blox.errors import BloxError
from blox.results.result import Result
from blox.state.cluster_spec import cluster_from_spec

_PER_NODE = 8  # GPUs in a row where nothing is known of nodes


def cluster_of(result: Result) -> dict[str, Any]:
    """Nodes in order of their GPUs: name, GPUs, type and rack of each.

    Where the file of a cluster is not there any more, its GPUs stand in rows without names; `note` says so.
    """
    rounds, gpus = result.rounds["gpus_total"], result.stints["gpu"]
    needed = max(int(gpus.max(initial=-1)) + 1, int(rounds.max(initial=0)))
    try:
        nodes = cluster_from_spec(str(result.experiment.get("cluster", ""))).nodes
    except BloxError:
        nodes = ()
    if sum(node.gpus for node in nodes) >= max(needed, 1):
        told = [[node.name, node.gpus, node.gpu_type, node.rack] for node in nodes]
        return {"nodes": told, "note": ""}
    rows = [min(_PER_NODE, needed - first) for first in range(0, needed, _PER_NODE)]
    return {
        "nodes": [[f"GPUs {_PER_NODE * i} on", count, "", 0] for i, count in enumerate(rows)],
        "note": "the cluster's description is not there any more: GPUs by number, not by node",
    }
