"""Gavel's mechanism: what jobs and pairs were promised and have received, and which run in the next round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blox.workloads.table import Array


class Combinations:
    """Jobs, and pairs of jobs that could share GPUs, in the order in which they came; a column per GPU type.

    `members` (second -1: a job alone), `width` GPUs, `runs` where all members do something, `fraction` of the
    time promised, `received_s` since the last reset, `deficit_s` from before that. `known`: in the allocation
    that holds. `half_s` is half a round, which every job starts with.
    """

    def __init__(self, types: int, half_s: float) -> None:
        self.half_s = half_s
        self.members: Array = np.zeros((0, 2), dtype=np.int64)
        self.width: Array = np.zeros(0, dtype=np.int64)
        self.known: Array = np.zeros(0, dtype=bool)
        self.runs: Array = np.zeros((0, types), dtype=bool)
        self.fraction: Array = np.zeros((0, types))
        self.received_s: Array = np.zeros((0, types))
        self.deficit_s: Array = np.zeros((0, types))
        self.type_s: list[float] = [0.0] * types  # received by all on each type

    @property
    def jobs(self) -> Array:
        """The jobs, in the order in which they came."""
        alone: Array = self.members[self.members[:, 1] < 0, 0]
        return alone

    def add(self, members: Array, width: Array, runs: Array) -> None:
        """Newcomers: nothing is promised to them before the next reset.

        Jobs begin with half a round received and pairs with nothing, so that the first reset owes pairs that
        half: they go before jobs where none has any priority.
        """
        more, types = len(members), self.runs.shape[1]
        zero = np.zeros((more, types))
        self.members = np.concatenate([self.members, members])
        self.width = np.concatenate([self.width, width])
        self.known = np.concatenate([self.known, np.zeros(more, dtype=bool)])
        self.runs = np.concatenate([self.runs, runs])
        self.fraction = np.concatenate([self.fraction, zero])
        self.received_s = np.concatenate([self.received_s, zero + self.half_s * (members[:, 1:] < 0)])
        self.deficit_s = np.concatenate([self.deficit_s, zero])

    def remove(self, jobs: Array) -> None:
        """These jobs leave, and every pair that one of them is in."""
        stays = ~np.isin(self.members, jobs).any(axis=1)
        for name in ("members", "width", "known", "runs", "fraction", "received_s", "deficit_s"):
            setattr(self, name, getattr(self, name)[stays])

    def credit(self, at: int, type_: int, seconds: float) -> None:
        """A combination has run; its time counts once, however many GPUs it held."""
        self.received_s[at, type_] += seconds
        self.type_s[type_] += seconds

    def reset(self, elapsed_s: float) -> None:
        """What was promised in this time and not received is owed; the count starts again at half a round."""
        self.deficit_s += self.fraction * elapsed_s - (self.received_s - self.half_s)
        self.received_s[:] = self.half_s
        self.type_s = [self.half_s * len(self.members)] * len(self.type_s)

    def promise(self, members: Array, fractions: Array) -> None:
        """A new allocation: these combinations get these parts of the time, the others nothing."""
        self.known[:] = True
        self.fraction[:] = 0.0
        if not len(members):
            return
        span = int(self.members.max()) + 2
        own, theirs = (each[:, 0] * span + each[:, 1] + 1 for each in (self.members, members))
        order = np.argsort(own)
        self.fraction[order[np.searchsorted(own, theirs, sorter=order)]] = fractions

    def choose(self, types: Sequence[int], gpus: Sequence[int], promised_only: bool) -> list[tuple[int, int]]:
        """(combination, type) of those that run next, type after type: the least served first.

        Priority is the fraction promised over the fraction received; ties go to the larger deficit, the
        larger fraction, the earlier arrival. A combination that does not fit is passed over. With
        `promised_only` none without priority runs; otherwise they get the GPUs that are left.
        """
        first, second = self.members[:, 0].tolist(), self.members[:, 1].tolist()
        width = self.width.tolist()
        taken = np.zeros(int(self.members.max(initial=-1)) + 2, dtype=bool)  # the last entry is for row -1
        chosen: list[tuple[int, int]] = []
        for type_ in types:
            fraction = self.fraction[:, type_]
            priority = np.zeros(len(fraction))
            on = self.runs[:, type_] & (fraction > 0)
            priority[on] = fraction[on] / (self.received_s[on, type_] / self.type_s[type_])
            can = self.runs[:, type_] & ~taken[self.members].any(axis=1)
            if promised_only:
                can &= priority > 0
            able = np.flatnonzero(can)
            order = np.lexsort((-fraction[able], -self.deficit_s[able, type_], -priority[able]))
            free = gpus[type_]
            for at in able[order].tolist():
                if width[at] <= free and not taken[first[at]] and not taken[second[at]]:
                    free -= width[at]
                    taken[first[at]] = True
                    if second[at] >= 0:
                        taken[second[at]] = True
                    chosen.append((at, type_))
                    if not free:
                        break
        return chosen
