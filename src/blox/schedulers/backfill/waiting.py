"""The waiting jobs of a round in order, and what is remembered of them between rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from blox.schedulers.backfill.profile import Shares
from blox.state.believed import believed_s
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.workloads.table import Array

SHORTEST_S = 1e-3  # a job that should have ended already is taken to need so long
Place = tuple[float, Shares]  # when a job is believed to start, and where


@dataclass
class Memory:
    """The reservations after the last decision."""

    blocker: int = -1  # the first job in line with a reservation; -1: none
    blocked: Array = field(default_factory=lambda: NO_ROWS)  # the jobs that it, or another one, holds back
    closed_up: bool = False  # whether jobs that were not looked at took the places of those that started
    running: Array = field(default_factory=lambda: NO_ROWS)  # conservative: after the last decision
    promised: dict[int, Place] = field(default_factory=dict)  # conservative: by waiting row
    head_s: float = math.nan  # EASY: when the blocker is believed to start

    @property
    def reserved(self) -> dict[int, float]:
        """Waiting row -> the time for which GPUs are reserved for it."""
        found = {row: begin for row, (begin, _) in self.promised.items()}
        return found or ({} if self.blocker < 0 else {self.blocker: self.head_s})


class Queue:
    """Waiting rows in order, with the GPUs that each needs and the time that it is believed to take (s)."""

    def __init__(self, rows: Array, job_state: JobState) -> None:
        c = job_state.columns
        self.rows, self.need = rows, c.gpus.take(rows)
        self.length_s: Array = np.maximum(believed_s(job_state, rows) - c.done0.take(rows), SHORTEST_S)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        return zip(self.rows.tolist(), self.need.tolist(), self.length_s.tolist())
