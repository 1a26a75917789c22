"""A look inside a round: where every job stood in the order, by which keys, what was decided about it, and
what kept it from running. From the columns of `blox.recording.decisions`, traced or worked out again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blox.recording.stints import held_at
from blox.recording.wait_causes import COUNTED, WORDS
from blox.workloads.table import Array

_NAMED = 3  # jobs ahead that a reason names
_STRICT_ORDER = COUNTED[-1][1]
_COUNTS = ("job", "place", "gpus", "held_gpus")
_TEXTS = ("action", "cause", "because")


@dataclass(frozen=True)
class Standing:
    """One job in one round. `place` counts from 1; 0: the scheduler did not list it."""

    row: int
    place: int
    gpus: int
    held_gpus: int  # once the round was carried out
    keys: tuple[float, ...]
    action: str  # one of blox.recording.decisions.ACTIONS
    cause: str  # of its wait; empty for a job that runs
    because: str  # the same in words


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a run, from the columns of its decisions; `job_id` names the rows."""

    decision: Mapping[str, Array]
    job_id: Array

    @property
    def time_s(self) -> float:
        return float(self.decision["time_s"][0])

    @property
    def free_gpus(self) -> int:
        return int(self.decision["free_gpus"][0])

    @cached_property
    def key_names(self) -> list[str]:
        """The keys that sorted this round."""
        names = [name for name in self.decision if name.startswith("key_")]
        return [name for name in names if not np.isnan(self.decision[name]).all()]

    @cached_property
    def standings(self) -> list[Standing]:
        """Every job: listed ones in order, then those left out, then those held by admission control."""
        return [self.standing(at) for at in range(len(self.decision["job"]))]

    def standing(self, at: int) -> Standing:
        """The job at a position in that list."""
        row, place, gpus, held = (int(self.decision[name][at]) for name in _COUNTS)
        action, cause, because = (str(self.decision[name][at]) for name in _TEXTS)
        keys = tuple(float(self.decision[name][at]) for name in self.key_names)
        return Standing(row, place, gpus, held, keys, action, cause, because)

    @property
    def next_in_line(self) -> int | None:
        """The row of the first listed job that waits."""
        return self._waiting[0][1] if self._waiting else None

    def agrees_with(self, stints: Mapping[str, Array], states: Array | None = None) -> bool:
        """Whether the jobs that run after this round are those of a run's stints, on as many GPUs.

        `states`: as in `held_at`, for a round at the very end of the run."""
        there = stints["job"][held_at(stints, self.time_s, states)]
        recorded = np.bincount(there, minlength=len(self.job_id))
        decided = np.zeros(len(self.job_id), dtype=np.int64)
        decided[self.decision["job"]] = self.decision["held_gpus"]
        return bool(np.array_equal(recorded, decided))

    def blocked_by(self, standing: Standing) -> str:
        """What keeps a job from running: why it waits, with the numbers and the jobs that matter."""
        place, gpus, because = standing.place, standing.gpus, standing.because
        if because == WORDS["capacity"]:
            return f"needs {gpus:,} GPU{'s' if gpus != 1 else ''}, {self.free_gpus:,} free"
        if because == WORDS["fragmentation"]:
            largest = int(self.decision["largest_free"][0])
            free = f"{self.free_gpus:,} free, at most {largest:,} on a node"
            return f"needs {gpus:,}; {free}: not where it could use them"
        if because == WORDS["priority"]:
            ahead = [row for there, row in self._given if there < place]
            return f"GPUs went to jobs ahead of it: {self._names(ahead)}"
        if because == _STRICT_ORDER:
            ahead = [row for there, row in self._waiting[:1] if there < place]
            return f"the order is strict, and ahead of it waits {self._names(ahead)}"
        return because

    @cached_property
    def _waiting(self) -> list[tuple[int, int]]:
        """(place, row) of the listed jobs that hold nothing, in order."""
        return self._listed(self.decision["held_gpus"] == 0)

    @cached_property
    def _given(self) -> list[tuple[int, int]]:
        """(place, row) of the listed jobs that start, those with the most GPUs first."""
        given = self._listed(np.isin(self.decision["action"], ("launch", "move")))
        held = dict(zip(self.decision["job"].tolist(), self.decision["held_gpus"].tolist()))
        return sorted(given, key=lambda each: -held[each[1]])

    def _listed(self, which: Array) -> list[tuple[int, int]]:
        """(place, row) of the listed jobs, in order, where the mask is true."""
        place = self.decision["place"]
        here = which & (place > 0)
        return list(zip(place[here].tolist(), self.decision["job"][here].tolist()))

    def _names(self, rows: list[int]) -> str:
        more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
        return ", ".join(str(self.job_id[row]) for row in rows[:_NAMED]) + more
