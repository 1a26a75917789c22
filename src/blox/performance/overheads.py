"""What starting a job costs: seconds in which it holds its GPUs and makes no progress.

`none` (the default), `per-model` (figures below), or `launch=30,restart=60` for every job. A preempted
job pays for saving its state when it resumes: `restart` is checkpoint, restore and launch together. An
elastic job that goes on with another number of GPUs pays `resize` where that is given, otherwise `restart`.

`checkpoint=1800,checkpoint_cost=20`: a running job saves its state after every 1800 s of work, which takes
20 s. Saving is spread evenly over the interval: the job goes at 1800/1820 of its speed. What it did since its
last checkpoint is lost if it loses its GPUs (`failures/checkpoints.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from blox.durations import NEVER, parse_duration
from blox.errors import BloxError
from blox.registry import parse_options
from blox.state.jobs import JobState
from blox.workloads.table import Array

Number = TypeVar("Number", float, Array)

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
SHORTEST_S = 0.001  # between two checkpoints
LONGEST_S = 86_400.0  # a start that takes longer than a day is a slip of the pen

_KEYS = {
    "launch": "launch_s",
    "restart": "restart_s",
    "resize": "resize_s",
    "checkpoint": "checkpoint_s",
    "checkpoint_cost": "checkpoint_cost_s",
}


@dataclass(frozen=True)
class Overheads:
    """Seconds to launch a job for the first time, and to restart it after a preemption or a move."""

    launch_s: float = 0.0
    restart_s: float = 0.0
    per_model: bool = False
    resize_s: float | None = None
    checkpoint_s: float = math.inf
    checkpoint_cost_s: float = 0.0

    @property
    def working_share(self) -> float:
        """The part of its time on GPUs, once it has started, in which a job works and does not save."""
        if self.checkpoint_s == math.inf:
            return 1.0
        return self.checkpoint_s / (self.checkpoint_s + self.checkpoint_cost_s)

    def last_checkpoint(self, begin: Number, at: Number) -> Number:
        """When jobs that work since `begin` last saved their state by the time `at` (s); `begin` if never."""
        every_s = self.checkpoint_s + self.checkpoint_cost_s
        if every_s == math.inf:
            return begin
        last: Number = begin + np.floor(np.maximum(at - begin, 0.0) / every_s) * every_s
        return last

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
    """`none`, or any of launch, restart, resize, checkpoint and checkpoint_cost, each a duration.

    `per-model` stands for launch and restart.
    """
    spec = spec.strip()
    if spec == "none":
        return Overheads()
    where = f"overheads {spec!r}"
    name, _, rest = spec.partition(",")
    per_model = name.strip() == "per-model"
    values: dict[str, float] = {}
    for key, text in parse_options(rest if per_model else spec, where=where).items():
        if key not in _KEYS or (per_model and key in ("launch", "restart")):
            raise BloxError(
                f"{key}={text} is not an overhead",
                where=where,
                fix="write none, per-model, or launch=SECONDS,restart=SECONDS[,resize=SECONDS]"
                "[,checkpoint=SECONDS,checkpoint_cost=SECONDS]",
            )
        values[_KEYS[key]] = seconds = parse_duration(text, where=f"{where}, {key}")
        if seconds == NEVER and key != "checkpoint":
            raise BloxError(f"{key} is never over", where=where, fix=f"give a time: {key}=60")
        if seconds > LONGEST_S and key != "checkpoint":
            what, fix = f"{key}={text} is not an overhead", f"give at most {LONGEST_S:,.0f} (a day)"
            raise BloxError(what, where=where, fix=fix)
    if values.get("checkpoint_s", math.inf) < SHORTEST_S:
        raise BloxError(
            f"checkpoint is {values['checkpoint_s']:g}",
            where=where,
            fix="give the time between two checkpoints: checkpoint=30m",
        )
    if "checkpoint_cost_s" in values and "checkpoint_s" not in values:
        raise BloxError(
            "checkpoint_cost without checkpoint", where=where, fix="say how often: checkpoint=30m"
        )
    return Overheads(per_model=per_model, **values)
