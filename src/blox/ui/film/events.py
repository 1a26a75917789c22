"""When something happened that a viewer may want to jump to: preemptions, failures, changes of policy."""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.report.choices import Reigns
from blox.results.result import Result
from blox.workloads.table import Array


def event_times(result: Result) -> dict[str, Array]:
    """Ascending times (s) by kind. Preemptions include moves: both interrupt a job."""
    rounds = result.rounds
    interrupted = (rounds["suspended"] > 0) | (rounds["moved"] > 0)
    failed = [
        result.tables[table][column]
        for table, column in (("outages", "down_s"), ("evictions", "time_s"))
        if table in result.tables
    ]
    changes = [since for since, _ in reigns(result)[1:]]
    return {
        "preemption": np.asarray(rounds["time_s"][interrupted], dtype=np.float64),
        "failure": np.unique(np.concatenate([np.empty(0), *failed])),
        "policy": np.array(changes, dtype=np.float64),
    }


def reigns(result: Result) -> list[tuple[float, str]]:
    """From when on which policies ruled: one entry for a run that does not choose among several."""
    chosen = Reigns.of(result)
    if chosen is None:
        return [(0.0, policies_told(result.experiment))]
    found: list[tuple[float, str]] = []
    for time_s, which in zip(chosen.time_s.tolist(), chosen.ruling.tolist()):
        if not found or found[-1][1] != chosen.name[which]:
            found.append((time_s, chosen.name[which]))
    return found


def policies_told(experiment: dict[str, Any]) -> str:
    """The policies of an experiment in a line: the scheduler, then what is not as usual."""
    if experiment.get("compat"):
        return str(experiment["compat"])
    usual = {"admission": "accept-all", "placement": "first-free"}
    others = [str(experiment[part]) for part, spec in usual.items() if experiment.get(part, spec) != spec]
    return " + ".join([str(experiment.get("scheduler", "")), *others])
