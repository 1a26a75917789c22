from __future__ import annotations

import csv
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

COLUMNS = ("model", "gpu_type", "gpus", "consolidated", "rate")
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
        together = cluster_state.is_consolidated(grants)
        types = cluster_state.gpu_type[grants.gpus]
        ends = np.cumsum(grants.counts)
        models = job_state.columns.model[grants.jobs]
        found = np.empty(len(grants.jobs))
        for i, (end, count) in enumerate(zip(ends.tolist(), grants.counts.tolist())):
            kinds = {cluster_state.gpu_types[t] for t in types[end - count : end].tolist()}
            found[i] = min(_lookup(rates, models[i], kind, count, bool(together[i])) for kind in kinds)
        return found


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
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BloxError(
            f"cannot be read: {error.strerror}", where=str(file), fix="give a CSV of rates"
        ) from None
    numbered = [(n, line) for n, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if not numbered or tuple(numbered[0][1].split(",")) != COLUMNS:
        raise BloxError("the header is not right", where=f"{file}:1", fix=f"first line: {','.join(COLUMNS)}")
    rates: dict[Key, float] = {}
    for (number, _), cells in zip(numbered[1:], csv.reader(line for _, line in numbered[1:])):
        where = f"{file}:{number}"
        try:
            model, kind, gpus, consolidated, rate = (cell.strip() for cell in cells)
            key = (model, kind, 0 if gpus == "*" else int(gpus), bool(int(consolidated)))
            rates[key] = float(rate)
        except ValueError:
            raise BloxError(
                f"{cells!r} is not a row of rates", where=where, fix=f"write {','.join(COLUMNS)}"
            ) from None
        if not 0 < rates[key] < float("inf"):
            raise BloxError(f"the rate is {rate}", where=where, fix="a rate must be above 0")
    return rates
