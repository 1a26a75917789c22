"""What starting a job costs: seconds in which it holds its GPUs and makes no progress.

`none` (the default), `per-model` (figures below), or `launch=30,restart=60` for every job. A preempted
job pays for saving its state when it resumes: `restart` is checkpoint, restore and launch together. An
elastic job that goes on with another number of GPUs pays `resize` where that is given, otherwise `restart`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.errors import BloxError
from blox.registry import parse_options
from blox.state.jobs import JobState
from blox.workloads.table import Array

# Seconds to launch and to restart, by model. Our own round estimates from model size (state to save and
# load at about 1 GB/s, a framework start of 15 s, data-set warm-up); measure and override for your cluster.
PER_MODEL: dict[str, tuple[float, float]] = {
    "Resnet-18": (16.0, 18.0),
    "Resnet-50": (18.0, 21.0),
    "CycleGan": (18.0, 22.0),
    "LSTM": (17.0, 20.0),
    "Recoder": (20.0, 26.0),
    "Transformer": (18.0, 22.0),
    "A3C": (15.0, 17.0),
}
DEFAULT = (20.0, 30.0)
LONGEST_S = 86_400.0  # a start that takes longer than a day is a slip of the pen


@dataclass(frozen=True)
class Overheads:
    """Seconds to launch a job for the first time, and to restart it after a preemption or a move."""

    launch_s: float = 0.0
    restart_s: float = 0.0
    per_model: bool = False
    resize_s: float | None = None

    def delay(self, rows: Array, job_state: JobState) -> Array | float:
        """Seconds without progress for jobs that start now."""
        if not self.per_model and self.launch_s == self.restart_s:
            return self.launch_s
        columns = job_state.columns
        first_time = np.isnan(columns.first_start_s[rows])
        if not self.per_model:
            return np.where(first_time, self.launch_s, self.restart_s)
        costs = np.array([PER_MODEL.get(model, DEFAULT) for model in columns.model[rows]])
        return np.where(first_time, costs[:, 0], costs[:, 1])


def overheads_from_spec(spec: str) -> Overheads:
    """`none`, `per-model`, or `launch=SECONDS,restart=SECONDS,resize=SECONDS`, each 0 or as said."""
    spec = spec.strip()
    if spec in ("none", "per-model"):
        return Overheads(per_model=spec == "per-model")
    where = f"overheads {spec!r}"
    values = {"launch": 0.0, "restart": 0.0}
    for key, text in parse_options(spec, where=where).items():
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1.0
        if key not in (*values, "resize") or not 0 <= seconds <= LONGEST_S:
            raise BloxError(
                f"{key}={text} is not an overhead",
                where=where,
                fix="write none, per-model, or launch=SECONDS,restart=SECONDS[,resize=SECONDS], "
                f"each at most {LONGEST_S:,.0f} (a day)",
            )
        values[key] = seconds
    return Overheads(values["launch"], values["restart"], resize_s=values.get("resize"))
