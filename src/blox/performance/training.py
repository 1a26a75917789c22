"""How long one step of data-parallel training takes: compute, then exchange gradients.

    step = compute + bits x (2 (k - 1) / k / node bandwidth + 2 (m - 1) / m / network bandwidth)

for a job on m nodes with at most k GPUs on one of them: gradients are reduced inside every node, then around
the nodes, then handed back (a hierarchical all-reduce; 2 (p - 1) / p of the data pass every one of p
members). Compute is that of one GPU of the generation. Nothing is overlapped, and links are not shared
with other jobs. The figures stand in `profiles/models.csv` and `profiles/gpus.csv`, each with its source.
"""

from __future__ import annotations

from typing import TypeVar

from blox.errors import BloxError
from blox.performance.model_profiles import Generation, ModelProfile
from blox.state.cluster_spec import ClusterSpec
from blox.workloads.table import Array

Number = TypeVar("Number", float, Array)


def step_s(
    gigabits: Number, compute_s: Number, on_node: Number, nodes: Number, node_gbps: Number, gbps: Number
) -> Number:
    """Seconds per step of a job on `nodes` nodes, at most `on_node` of its GPUs on one; arrays or numbers."""
    inside = 2 * (on_node - 1) / on_node / node_gbps
    between = 2 * (nodes - 1) / nodes / gbps
    return compute_s + gigabits * (inside + between)


def network_gbps(spec: ClusterSpec) -> float:
    """The bandwidth between nodes of a rack; a cluster without any is refused."""
    if not spec.network_gbps > 0:
        raise BloxError(
            f"network_gbps is {spec.network_gbps:g}",
            where=f"cluster {spec.text!r}",
            fix="a job on several nodes needs a network: give Gb/s above 0",
        )
    return spec.network_gbps


def slowdown(model: ModelProfile, gpus: int, largest_node: int, generation: Generation, gbps: float) -> float:
    """How much longer a step takes with every GPU on a node of its own than on as few nodes as can be.

    0.5: half as long again. `largest_node` is the GPUs of a node.
    """
    compute_s, packed = model.step_s / generation.speed, min(gpus, largest_node)
    fewest = -(-gpus // largest_node)
    together = step_s(model.gigabits, compute_s, packed, fewest, generation.node_gbps, gbps)
    apart = step_s(model.gigabits, compute_s, 1, gpus, generation.node_gbps, gbps)
    return apart / together - 1
