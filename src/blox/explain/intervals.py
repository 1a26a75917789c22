"""Intervals of a job's life: it waited for a cause, in words, or ran; and how causes that policies tell,
which hold from one time to another, replace those that follow from counting GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from blox.recording.wait_causes import ARRIVAL, CAUSES, EVICTION, WORDS, told_cause

RUNNING = "running"


@dataclass(frozen=True)
class Interval:
    """From `start_s` to `end_s` a job waited for one cause, or ran on `gpus`."""

    start_s: float
    end_s: float
    state: str  # one of CAUSES, "scheduler", "arrival", "eviction" or "running"
    gpus: tuple[int, ...] = ()
    because: str = ""  # in words; without any, those of WORDS

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s

    @property
    def words(self) -> str:
        """Why the job waited."""
        return self.because or WORDS[self.state]


def merged(history: list[Interval]) -> list[Interval]:
    """The same history; neighbours that tell the same are one."""
    found: list[Interval] = []
    for each in history:
        if found and replace(found[-1], start_s=0.0, end_s=0.0) == replace(each, start_s=0.0, end_s=0.0):
            found[-1] = replace(found[-1], end_s=each.end_s)
        else:
            found.append(each)
    return found


@dataclass(frozen=True)
class Told:
    """From `start_s` to `end_s` a part (admission, scheduling, placement) gave this reason for a wait."""

    start_s: float
    end_s: float
    part: str
    because: str


def overlaid(history: list[Interval], told: list[Told]) -> list[Interval]:
    """The history in the words of policies, where they told any of the same time; both are in order."""
    found: list[Interval] = []
    upcoming = 0
    for each in history:
        start = each.start_s
        while upcoming < len(told) and told[upcoming].end_s <= start:
            upcoming += 1
        place = upcoming
        while start < each.end_s and place < len(told) and told[place].start_s < each.end_s:
            reason = told[place]
            if _speaks_of(reason, each):
                begin, end = max(start, reason.start_s), min(each.end_s, reason.end_s)
                if start < begin:
                    found.append(replace(each, start_s=start, end_s=begin))
                if begin < end:
                    cause = told_cause(reason.part, (each.state, each.words))
                    found.append(Interval(begin, end, cause, because=reason.because))
                    start = end
            place += 1
        if start < each.end_s:
            found.append(replace(each, start_s=start))
    return merged(found)


def _speaks_of(reason: Told, wait: Interval) -> bool:
    """An admission policy speaks of waits for admission, any other of the waits of an admitted job."""
    if wait.state in (RUNNING, ARRIVAL, EVICTION):
        return False
    return (reason.part == "admission") == (wait.state == "admission")


def totals_of(history: list[Interval]) -> dict[str, float]:
    """Seconds waited by cause, arrivals and evictions between two rounds included."""
    totals = dict.fromkeys((*CAUSES, ARRIVAL), 0.0)
    for interval in history:
        if interval.state != RUNNING:
            totals[interval.state] = totals.get(interval.state, 0.0) + interval.seconds
    return totals


def totals_by_reason(history: list[Interval]) -> dict[tuple[str, str], float]:
    """Seconds waited by cause and words, in the order of `totals_of`."""
    order = [*WORDS]
    totals: dict[tuple[str, str], float] = {}
    for each in sorted((i for i in history if i.state != RUNNING), key=lambda i: order.index(i.state)):
        reason = each.state, each.words
        totals[reason] = totals.get(reason, 0.0) + each.seconds
    return totals


@dataclass(frozen=True)
class Reason:
    """Waits that are told in the same words: their causes, those of the longest waits first.

    `seconds` is a number, or an array with one per job.
    """

    causes: tuple[str, ...]
    words: str
    seconds: Any


def by_words(reasons: Mapping[tuple[str, str], Any]) -> list[Reason]:
    """Seconds by cause and words, put together where the words are the same; in order of the first cause."""
    alike: dict[str, list[tuple[str, Any]]] = {}
    for (cause, words), seconds in reasons.items():
        alike.setdefault(words, []).append((cause, seconds))
    found = []
    for words, waits in alike.items():
        total = {cause: float(np.sum(seconds)) for cause, seconds in waits}
        causes = [cause for cause in sorted(total, key=lambda cause: -total[cause]) if total[cause]]
        found.append(Reason(tuple(causes or list(total)[:1]), words, sum(seconds for _, seconds in waits)))
    return found


@dataclass(frozen=True)
class Stretch:
    """From `start_s` to `end_s` a job ran on `gpus`, or waited for reasons that one sentence tells."""

    start_s: float
    end_s: float
    causes: tuple[str, ...]  # (RUNNING,), or why it waited
    words: str
    gpus: tuple[int, ...] = ()

    @property
    def running(self) -> bool:
        return self.causes == (RUNNING,)


def stretches(history: list[Interval]) -> list[Stretch]:
    """The same history; neighbours that tell the same in words are one, also where their causes differ."""
    found = []
    told = groupby(history, key=lambda each: (each.gpus, "" if each.state == RUNNING else each.words))
    for (gpus, words), alike in told:
        parts = list(alike)
        (reason,) = by_words(_seconds(parts, words))
        found.append(Stretch(parts[0].start_s, parts[-1].end_s, reason.causes, words, gpus))
    return found


def _seconds(parts: list[Interval], words: str) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for each in parts:
        found[each.state, words] = found.get((each.state, words), 0.0) + each.seconds
    return found
