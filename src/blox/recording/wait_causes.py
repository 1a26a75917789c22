"""Why jobs wait: causes that follow from counting GPUs, and causes that policies tell.

A waiting job is classed by its GPU count against what was free and what was handed out. Where a policy says
why a job waits (`wait_reasons`), its words stand beside that class: small codes, noted when they change.
A job that the scheduling policy did not list although enough GPUs were free has a class of its own.
"""

from __future__ import annotations

import math

import numpy as np

from blox.state.plan import NO_ROWS
from blox.workloads.table import Array

CAUSES = ("admission", "priority", "capacity", "fragmentation")
SCHEDULER = "scheduler"  # enough GPUs were free, and the scheduling policy left the job out
ARRIVAL, EVICTION = "arrival", "eviction"  # between two rounds, when no policy could act
LEFT_OUT = "GPUs were free, but the scheduler did not list it"  # of a policy that tells no reason
WORDS = {
    "admission": "admission control held it outside",
    "priority": "the GPUs it could have had went to jobs ahead of it",
    "capacity": "too few GPUs were free or came free",
    "fragmentation": "enough GPUs were free, but not where it could use them",
    SCHEDULER: LEFT_OUT,
    ARRIVAL: "it had come between two rounds",
    EVICTION: "it had lost its GPUs between two rounds",
}
# What counting GPUs can tell: (cause, words), the first ones those of CAUSES.
COUNTED = (
    *((cause, WORDS[cause]) for cause in CAUSES),
    ("priority", "enough GPUs were free, but a job ahead of it did not fit and the order is strict"),
)
_ADMISSION, _PRIORITY, _CAPACITY, _FRAGMENTATION, _STRICT_ORDER = range(len(COUNTED))
_ROOM = (COUNTED[_FRAGMENTATION], COUNTED[_STRICT_ORDER])  # enough GPUs were free
Count = Array | int


def counted_cause(gpus: Count, free: Count, handed_out: Count, blocked: Array | bool) -> Array:
    """Why an admitted job of `gpus` GPUs waited, as far as counting tells: an index into COUNTED.

    fragmentation: enough GPUs were free, but not where the placement could use them. priority: enough
    were handed out in that very round, to jobs ahead of it; or enough were free, but a strict order had
    ended before its turn. capacity: not enough came free.
    """
    room = gpus <= np.asarray(free)
    without_room = np.where(gpus <= np.asarray(free) + handed_out, _PRIORITY, _CAPACITY)
    return np.where(room, np.where(blocked, _STRICT_ORDER, _FRAGMENTATION), without_room)


def told_cause(part: str, counted: tuple[str, str]) -> str:
    """The cause of a wait that a part tells of, where counting says `counted` (one of COUNTED).

    It is the counted one, but for a job that the scheduler left out although enough GPUs were free.
    """
    return SCHEDULER if part == "scheduling" and counted in _ROOM else counted[0]


class ToldCauses:
    """What policies have told of waiting jobs, by time: a log of codes, one entry per change.

    A code stands for a part (admission, scheduling, placement) and its words; 0: nothing is told.
    """

    def __init__(self) -> None:
        self.names: list[tuple[str, str]] = [("", "")]  # by code: (part, words)
        self._code_of: dict[tuple[str, str], int] = {}
        self._rows: Array = NO_ROWS  # the jobs with a code other than 0
        self.open = False  # whether there are any
        self._codes: Array = np.zeros(0, dtype=np.int32)  # by row
        self._log: list[tuple[float, Array, Array]] = []  # time, rows, codes from then on

    def code(self, part: str, words: str) -> int:
        """The code of what a part tells in its words; 0 for no words."""
        if not words:
            return 0
        found = self._code_of.get((part, words))
        if found is None:
            found = self._code_of[part, words] = len(self.names)
            self.names.append((part, words))
        return found

    def note(self, now: float, rows: Array, codes: Array) -> None:
        """From `now` on this is told of these jobs, and nothing of any other."""
        rows, codes = rows[codes > 0], codes[codes > 0]
        most = int(max(rows.max(initial=-1), self._rows.max(initial=-1))) + 1
        if most > len(self._codes):
            self._codes = np.concatenate((self._codes, np.zeros(most, dtype=np.int32)))
        fresh = self._codes.take(rows) != codes
        self._codes[self._rows] = 0
        self._codes[rows] = codes
        ended = self._rows[self._codes.take(self._rows) == 0]
        if len(ended) or fresh.any():
            changed = np.concatenate((ended, rows[fresh]))
            self._log.append((now, changed, self._codes.take(changed)))
        self._rows, self.open = rows, len(rows) > 0

    def intervals(self) -> dict[str, Array]:
        """Every wait with a reason: job, start_s, end_s (inf: it lasts), code; by job and time."""
        job = np.concatenate([rows for _, rows, _ in self._log] or [NO_ROWS])
        code = np.concatenate([codes for *_, codes in self._log] or [NO_ROWS])
        start = np.repeat([now for now, *_ in self._log], [len(rows) for _, rows, _ in self._log])
        order = np.argsort(job, kind="stable")
        job, code, start = job[order], code[order], start[order].astype(np.float64)
        end = np.full(len(job), math.inf)
        again = job[1:] == job[:-1]
        end[:-1][again] = start[1:][again]
        told = (code > 0) & (start < end)
        return {"job": job[told], "start_s": start[told], "end_s": end[told], "code": code[told]}

    def table(self, end_s: float) -> dict[str, Array]:
        """The same for people, of a run that ended at `end_s`: job, start_s, end_s, part, because."""
        found = self.intervals()
        part, because = np.array(self.names, dtype=object).T
        return {
            "job": found["job"],
            "start_s": found["start_s"],
            "end_s": np.minimum(found["end_s"], end_s),
            "part": part[found["code"]],
            "because": because[found["code"]],
        }

    def of_part(self, part: str) -> dict[str, Array]:
        """The intervals of which one part told something."""
        found = self.intervals()
        here = np.array([name == part for name, _ in self.names])[found["code"]]
        return {name: column[here] for name, column in found.items()}
