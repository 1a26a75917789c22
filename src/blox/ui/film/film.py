"""A run as columns for a browser, from which it draws any moment by itself; see `static/film/frame.js`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from blox.report import colours, series
from blox.results.result import Result
from blox.ui.columns import packed
from blox.ui.film.cluster import cluster_of
from blox.ui.film.curves import curves_of
from blox.ui.film.events import event_times, reigns
from blox.ui.film.lanes import lanes_of
from blox.workloads.table import Array

_ROUNDS = (  # columns of the rounds that a frame shows, beside their time
    *("held", "queued", "running", "gpus_total", "gpus_used", "launched", "suspended", "moved", "finished"),
    *("largest_free", "fragmentation"),
)
_JOBS = ("gpus", "submit_s", "admit_s", "first_start_s", "finish_s")
_NAMED = ("user", "tenant", "model")  # columns of jobs that repeat a few texts


def film_of(result: Result, label: str, note: str) -> bytes:
    """Everything that the page shows of a run but its queue, which `order.py` answers for a moment."""
    header = {
        "label": label,
        "note": note,
        "end_s": series.end_of(result),
        "begin_s": float(result.jobs["submit_s"].min(initial=np.inf)),
        "round_s": float(result.experiment.get("round_s") or 0.0),
        "workload": str(result.experiment.get("workload", "")),
        "cluster": cluster_of(result),
        "reigns": reigns(result),
        "ids": [str(each) for each in result.jobs["job_id"]],
        "states": [str(each) for each in result.jobs["state"]],
        "names": {name: _texts(result.jobs[name]) for name in _NAMED if name in result.jobs},
        "palette": colours.JOBS,
    }
    return packed(header, {**_of_jobs(result), **_of_rounds(result.rounds), **_over_time(result)})


def _of_jobs(result: Result) -> dict[str, Array]:
    jobs = result.jobs
    found = {name: _small(jobs[name]) for name in _JOBS}
    found["colour"] = np.array(
        [colours.job_position(row) for row in range(len(jobs["job_id"]))], dtype=np.uint8
    )
    for name in _NAMED:
        if name in jobs:
            found[f"job_{name}"] = np.unique(jobs[name].astype(str), return_inverse=True)[1].astype(np.int32)
    return found


def _of_rounds(rounds: Mapping[str, Array]) -> dict[str, Array]:
    shown = {f"round_{name}": _small(rounds[name]) for name in _ROUNDS}
    return {"round_time_s": _small(rounds["time_s"]), **shown}


def _over_time(result: Result) -> dict[str, Array]:
    """What holds which GPU when, which are down when, what can be jumped to, and the curves."""
    lanes = lanes_of(result.stints)
    found = {
        "lane_first": _small(lanes.first),
        "lane_gpu": _small(lanes.gpu),
        "stint_job": _small(lanes.job),
        "stint_start_s": lanes.start_s.astype(np.float64),
        "stint_end_s": lanes.end_s.astype(np.float64),
    }
    if (outages := result.tables.get("outages")) is not None:
        found |= {f"down_{name}": _small(outages[name]) for name in ("gpu", "gpus", "down_s", "up_s")}
    found |= {f"event_{kind}": times for kind, times in event_times(result).items()}
    return {**found, **curves_of(result)}


def _texts(column: Array) -> list[str]:
    return [str(each) for each in np.unique(column.astype(str))]


def _small(column: Array) -> Array:
    """Counts as 32 bit numbers; times stay exact."""
    return column.astype(np.int32 if column.dtype.kind in "iub" else np.float64)
