"""Smaller clusters of the same kind: every kind of node gives up its part."""

from __future__ import annotations

import itertools
from pathlib import Path

from blox.disk.toml_text import to_toml
from blox.disk.whole_file import write_whole
from blox.state.cluster_spec import ClusterSpec, Node
from blox.workloads.table import JobTable

PARTS = (0.95, 0.9, 0.85, 0.8, 0.7, 0.6)


def smaller_clusters(spec: ClusterSpec, table: JobTable, folder: Path) -> dict[int, str]:
    """GPUs -> the cluster file, for sizes below the present one on which every job still fits."""
    found: dict[int, str] = {}
    for part in PARTS:
        nodes = _kept(spec.nodes, part)
        gpus = sum(node.gpus for node in nodes)
        if gpus < spec.total_gpus and gpus not in found and _all_fit(nodes, table):
            path = folder / f"cluster-{gpus}.toml"
            write_whole(path, _text(nodes, spec).encode())
            found[gpus] = str(path)
    return found


def _kept(nodes: tuple[Node, ...], part: float) -> list[Node]:
    """So large a part of the nodes of each kind, spread evenly over them; of each kind at least one."""
    kinds: dict[tuple[str, int], list[Node]] = {}
    for node in nodes:
        kinds.setdefault((node.gpu_type, node.gpus), []).append(node)
    kept = []
    for alike in kinds.values():
        count = max(round(part * len(alike)), 1)
        kept += [alike[at * len(alike) // count] for at in range(count)]
    order = {node.name: at for at, node in enumerate(nodes)}
    return sorted(kept, key=lambda node: order[node.name])


def _all_fit(nodes: list[Node], table: JobTable) -> bool:
    """Whether the largest job of each set of GPU types has enough GPUs of them."""
    types, gpus = table.column("gpu_types").tolist(), table.columns["gpus"].tolist()
    largest: dict[str, int] = {}
    for names, count in zip(types, gpus):
        largest[names] = max(largest.get(names, 0), count)
    return all(
        sum(node.gpus for node in nodes if not names or node.gpu_type in names.split("|")) >= count
        for names, count in largest.items()
    )


def _text(nodes: list[Node], spec: ClusterSpec) -> str:
    """The nodes as a cluster file; neighbours that are alike are written together."""
    speeds = dict(spec.speeds)
    groups = []
    for (gpus, kind, cpu, memory), alike in itertools.groupby(
        nodes, key=lambda node: (node.gpus, node.gpu_type, node.cpu, node.memory_gb)
    ):
        members = list(alike)
        group = {"name": members[0].name, "count": len(members), "gpus": gpus, "gpu_type": kind}
        figures = {"cpu": cpu, "memory_gb": memory}
        groups.append({**group, **figures, **({"speed": speeds[kind]} if kind in speeds else {})})
    tables = "\n".join(f"[[nodes]]\n{to_toml(group)}" for group in groups)
    return f"network_gbps = {spec.network_gbps!r}\n\n{tables}"
