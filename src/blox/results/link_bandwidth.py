"""The bandwidth that jobs had inside their nodes: a column of jobs.csv and a figure of the summary."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from blox.state.cluster_spec import ClusterSpec
from blox.state.links import Matrix, mean_gbps
from blox.workloads.table import Array


def link_gbps(stints: Mapping[str, Array], cluster: ClusterSpec, jobs: int) -> Array:
    """By job, the mean bandwidth between its GPUs (Gb/s), over all pairs of them and over time.

    It is of the time in which the job had several GPUs, all on one node whose links are known; nan for jobs
    without any. Blox, section 5.3: "the avg bandwidth experienced by single node, multi-GPU jobs".
    """
    node_of, first_of, links_of = _places(cluster)
    order = np.lexsort((stints["gpu"], stints["start_s"], stints["job"]))
    job, gpu, start, end = (stints[name][order] for name in ("job", "gpu", "start_s", "end_s"))
    begins = np.flatnonzero((np.diff(job, prepend=-1) != 0) | (np.diff(start, prepend=-1.0) != 0))
    sizes = np.diff(begins, append=len(job))
    seconds, gigabits = np.zeros(jobs), np.zeros(jobs)
    for at, count in zip(begins[sizes > 1].tolist(), sizes[sizes > 1].tolist()):
        gpus = gpu[at : at + count]
        node = int(node_of[gpus[0]])
        links = links_of[node]
        if links is not None and node == node_of[gpus[-1]]:
            here = tuple((gpus - first_of[node]).tolist())
            seconds[job[at]] += end[at] - start[at]
            gigabits[job[at]] += (end[at] - start[at]) * mean_gbps(links, here)
    found: Array = np.divide(gigabits, seconds, out=np.full(jobs, np.nan), where=seconds > 0)
    return found


def link_figures(jobs: Mapping[str, Array]) -> dict[str, float | int | None]:
    """The bandwidth on average over the jobs of the window that have one, and how many these are."""
    known = jobs["link_gbps"][(jobs["in_window"] == 1) & ~np.isnan(jobs["link_gbps"])]
    return {"avg_link_gbps": float(known.mean()) if len(known) else None, "linked_jobs": len(known)}


def _places(cluster: ClusterSpec) -> tuple[Array, Array, list[Matrix | None]]:
    """The node of each GPU; the first GPU of each node, and its links."""
    sizes = np.array([node.gpus for node in cluster.nodes])
    links = [cluster.links.get(node.gpu_type) for node in cluster.nodes]
    return np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes) - sizes, links
