"""Evidence: what the runs of a study say together. Changes against the present scheduler, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blox.decision.by_block import difference, saved, saved_interval
from blox.decision.digest import LARGEST, LENGTHS, LONGEST, OTHERS, SIZES, Key
from blox.decision.study import Study
from blox.errors import BloxError
from blox.results.calibration import Closeness
from blox.results.statistics import LEVEL, Interval, all_equal, paired_differences, resampled_interval

EVERYONE = ("all", "all jobs")
DECIDES = "jct_s"  # the figure by which schedulers are ranked: the average time from submission to finish
FEWEST_RESAMPLES = 5  # fewer do not show how far a change varies
Figures = Mapping[Key, float]


@dataclass(frozen=True)
class Evidence:
    """Figures of every scheduler on the log, and on every resample."""

    study: Study
    on_log: Mapping[str, Figures]
    resampled: Mapping[str, Sequence[Figures]]
    summaries: Mapping[str, Mapping[str, Any]]
    closeness: Sequence[Closeness] = ()  # of the present one to what really happened, where the log says that
    late_starts: int = 0
    # by scheduler and by what is assumed; a run that cannot be is a fault
    assumed: Mapping[str, Mapping[str, Figures | BloxError]] = field(default_factory=dict)
    smaller: Mapping[int, Figures] = field(default_factory=dict)  # GPUs -> the best one on so many

    def value(self, scheduler: str, by: str, group: str, figure: str) -> float:
        """A figure of a scheduler on the log itself; nan where no job has it."""
        return self.on_log[scheduler].get(Key(by, group, figure), math.nan)

    def change(
        self, scheduler: str, by: str, group: str, figure: str, level: float = LEVEL
    ) -> Interval | None:
        """By how much a figure is larger than with the present scheduler; None where that cannot be told.

        The estimate is that on the log. The resamples, in pairs, say how far it could be off, unless they are
        too few, have too few jobs of the group, or all have the same change.
        """
        key, present = Key(by, group, figure), self.study.present
        if by == "time":  # resamples have other times
            return None
        ours, theirs = (
            np.array([figures.get(key, math.nan) for figures in self.resampled[each]])
            for each in (scheduler, present)
        )
        drawn = paired_differences(ours, theirs)
        known = drawn[np.isfinite(drawn)]
        estimate = self.value(scheduler, *key) - self.value(present, *key)
        if len(known) < max(0.8 * len(drawn), FEWEST_RESAMPLES) or all_equal(known):
            return None
        return resampled_interval(estimate, known, self.study.blocks, level)

    def ranking(self) -> list[str]:
        """The schedulers of the shortlist, the lowest average completion time first."""
        found = self.study.shortlist
        return sorted(found, key=lambda each: (self.value(each, *EVERYONE, DECIDES), found.index(each)))

    @property
    def best(self) -> str:
        return self.ranking()[0]

    def headline(self, scheduler: str) -> Interval | None:
        """The change that decides, at a level that holds for all schedulers of the shortlist together."""
        level = 1 - (1 - LEVEL) / len(self.study.shortlist)
        return self.change(scheduler, *EVERYONE, DECIDES, level)

    @property
    def worth_it(self) -> bool:
        """Whether the best one is distinguishable from the present one, and better."""
        found = self.headline(self.best)
        return found is not None and found.high < 0

    def groups(self, by: str) -> list[str]:
        """The groups of a kind: sizes and lengths in order, tenants by GPU time."""
        there = dict.fromkeys(key.group for key in self.on_log[self.study.present] if key.by == by)
        order = {
            "size": [*(name for _, name in SIZES), LARGEST],
            "length": [*(name for _, name in LENGTHS), LONGEST],
            "tenant": [*sorted(there, key=lambda name: (name == OTHERS, -self._jobs(by, name), name))],
        }.get(by, list(there))
        return [name for name in order if name in there]

    def undecided(self, scheduler: str) -> list[tuple[str, str]]:
        """Groups of jobs for which no change of their average waiting can be told."""
        found = []
        for by in ("size", "tenant", "length"):
            for group in self.groups(by):
                change = self.change(scheduler, by, group, "waited_s")
                if change is None or not change.excludes_zero:
                    found.append((by, group))
        return found

    def worse_off(self, scheduler: str) -> list[tuple[str, str, Interval]]:
        """Groups of jobs that would surely wait longer on average, or at p95."""
        found = []
        for by in ("size", "tenant", "length"):
            for group in self.groups(by):
                change = self.change(scheduler, by, group, "waited_s")
                if change is not None and change.low > 0:
                    found.append((by, group, change))
        return found

    def saved_gpus(self) -> Interval | None:
        """GPUs that the best one could do without at the average waiting of the present one; None: unknown.

        Without bounds (nan) where the log has too few blocks.
        """
        if not self.smaller:
            return None
        key, present = Key(*EVERYONE, "waited_s"), self.on_log[self.study.present]
        estimate = saved({gpus: run[key] for gpus, run in self.smaller.items()}, present[key])
        return saved_interval(self.smaller, present) or Interval(estimate, math.nan, math.nan)

    def on_the_log(self, run: Figures, other: Figures, figure: str) -> Interval:
        """How much larger a figure of one run of the log is than of another, by the log's blocks.

        Without bounds (nan) where these are too few.
        """
        key = Key(*EVERYONE, figure)
        return difference(run, other, figure) or Interval(run[key] - other[key], math.nan, math.nan)

    def _jobs(self, by: str, group: str) -> float:
        return self.value(self.study.present, by, group, "jobs")
