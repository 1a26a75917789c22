from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from blox.errors import BloxError
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array
from blox.workloads.text_files import read_cells

COLUMNS = ("model", "gpu_type", "gpus", "consolidated", "rate")
SLOWEST, FASTEST = 1e-6, 1e6  # beyond these a rate is a slip of the pen, and a run takes for ever
Key = tuple[str, str, int, bool]


@register.performance("table")
@dataclass(frozen=True)
class Table:
    """Looks the speed up by (model, GPU type, GPUs, consolidated or not).

    `path` is a CSV with the columns model,gpu_type,gpus,consolidated,rate: the rate is relative to the
    job's duration (1.0 = as in isolation), consolidated is 1 or 0, and `*` in model, gpu_type or gpus
    matches anything; the most specific row counts, model before type before GPUs. A job that matches no
    row runs at 1.0. A job whose GPUs are of several types runs at the slowest one's rate. Without a path the
    project's own table is used: spreading costs as in `profiles/spread.csv`.
    """

    path: str = ""

    def __post_init__(self) -> None:
        _load(self.path)

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        rates = _load(self.path)
        together = _consolidated(grants, cluster_state)
        types = cluster_state.gpu_type[grants.gpus]
        ends = np.cumsum(grants.counts)
        models = job_state.columns.model[grants.jobs]
        found = np.empty(len(grants.jobs))
        for i, (end, count) in enumerate(zip(ends.tolist(), grants.counts.tolist())):
            kinds = {cluster_state.gpu_types[t] for t in types[end - count : end].tolist()}
            found[i] = min(_lookup(rates, models[i], kind, count, bool(together[i])) for kind in kinds)
        return found


def _consolidated(grants: Allocation, cluster_state: ClusterState) -> Array:
    """Mask by job: it uses no more nodes than its GPU count needs on empty nodes, the largest first."""
    if cluster_state.one_pool:
        return np.ones(grants.size, dtype=bool)
    job = np.repeat(np.arange(grants.size), grants.counts)
    nodes_of_jobs = np.unique(job * cluster_state.nodes + cluster_state.gpu_node[grants.gpus])
    spans = np.bincount(nodes_of_jobs // cluster_state.nodes, minlength=grants.size)
    largest_first = np.sort(cluster_state.node_gpus)[::-1]
    fewest: Array = np.cumsum(largest_first).searchsorted(grants.counts) + 1
    return spans <= fewest


def _lookup(rates: dict[Key, float], model: str, gpu_type: str, gpus: int, consolidated: bool) -> float:
    for name in (model, "*"):
        for kind in (gpu_type, "*"):
            for count in (gpus, 0):
                rate = rates.get((name, kind, count, consolidated))
                if rate is not None:
                    return rate
    return 1.0


@lru_cache(maxsize=16)
def _load(path: str) -> dict[Key, float]:
    file = Path(path) if path else Path(__file__).parent.parent / "profiles" / "spread.csv"
    rows = read_cells(file, fix="give a CSV of rates")
    if not rows or tuple(rows[0][1]) != COLUMNS:
        raise BloxError("the header is not right", where=f"{file}:1", fix=f"first line: {','.join(COLUMNS)}")
    rates: dict[Key, float] = {}
    for number, cells in rows[1:]:
        where = f"{file}:{number}"
        try:
            model, kind, gpus, consolidated, rate = cells
            key = (model, kind, 0 if gpus == "*" else int(gpus), bool(int(consolidated)))
            rates[key] = float(rate)
        except ValueError:
            raise BloxError(
                f"{cells!r} is not a row of rates", where=where, fix=f"write {','.join(COLUMNS)}"
            ) from None
        if not SLOWEST <= rates[key] <= FASTEST:
            fix = f"a rate must be a number from {SLOWEST:g} to {FASTEST:,.0f}"
            raise BloxError(f"the rate is {rate}", where=where, fix=fix)
    return rates
