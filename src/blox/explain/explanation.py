"""Why did a job wait? Read from a finished run: its intervals of waiting with their cause, and of running.

Time is cut where the recorder wrote a row, so what the jobs of a run waited adds up to its summary. The
time between a submission and the round that sees it is called arrival: no scheduler could have acted yet.
Where a policy has told why a job waits (`reasons.parquet`), its words stand in place of those of the count.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blox.errors import BloxError
from blox.explain.intervals import RUNNING, Interval, Told, overlaid, totals_by_reason
from blox.recording.wait_causes import (
    ARRIVAL,
    CAUSES,
    COUNTED,
    EVICTION,
    SCHEDULER,
    WORDS,
    counted_cause,
    told_cause,
)
from blox.results.interruptions import kinds_of
from blox.results.metrics import seen_s
from blox.results.outcomes import ENDED_EARLY
from blox.results.result import Result
from blox.workloads.table import Array

_LOST = {"failure": "{node} failed", "drain": "{node} was drained", "job": "the job failed"}
_STOPPED = {"preemptions": "preempted", "moves": "moved", "evictions": "evicted"}


@dataclass(frozen=True)
class Eviction:
    """A job lost its GPUs at `time_s`, and with them work of so much GPU time."""

    time_s: float
    reason: str
    lost_gpu_s: float


@dataclass(frozen=True)
class Explanation:
    """The answers that a finished run gives about its jobs."""

    result: Result

    def row(self, job_id: str) -> int:
        """The row of a job; an unknown id is answered with near ones."""
        ids = self.result.jobs["job_id"]
        found = np.flatnonzero(ids == job_id)
        if len(found):
            return int(found[0])
        near = difflib.get_close_matches(job_id, ids[:20_000].tolist(), n=3, cutoff=0.5)
        question = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        some = ", ".join(ids[:3].tolist())
        raise BloxError(
            f"no job is called {job_id!r}",
            where="--job",
            fix=f"{question}the run has {len(ids):,} jobs: {some}{', ...' if len(ids) > 3 else ''}",
        )

    def history(self, row: int) -> list[Interval]:
        """What happened to a job, interval by interval, from its submission to its end or the run's."""
        jobs = self.result.jobs
        seen, admit, end = (float(times[row]) for times in (self._seen, self._admit, self._end))
        found = [Interval(float(jobs["submit_s"][row]), seen, ARRIVAL), Interval(seen, admit, "admission")]
        cause = self._cause(int(jobs["gpus"][row]))
        queued_since = admit
        for start, stop, gpus in self._runs(row):
            found += self._queued(queued_since, start, cause)
            found.append(Interval(start, stop, RUNNING, gpus))
            queued_since = stop
        found += self._queued(queued_since, end, cause)
        return overlaid([interval for interval in found if interval.seconds > 0], self._told_of(row))

    def waits(self) -> dict[str, Array]:
        """Seconds that every job waited, by cause, arrival included; the arrays are aligned with the jobs."""
        found: dict[str, Array] = {}
        for (cause, _), seconds in self.reasons().items():
            found[cause] = found[cause] + seconds if cause in found else seconds
        return found

    def reasons(self) -> dict[tuple[str, str], Array]:
        """The same by cause and words: the policy's own, or those of WORDS."""
        jobs = self.result.jobs
        by_count = self._by_count(*self._gaps)
        by_count[0] += np.maximum(self._admit - self._seen, 0.0)
        told: dict[tuple[str, str], Array] = {}
        for (part, words), waited in self._told_by_count():
            for index, counted in enumerate(COUNTED):
                if waited[index].any():
                    reason = told_cause(part, counted), words
                    told[reason] = told.get(reason, 0.0) + waited[index]
                    by_count[index] = _without_dust(by_count[index] - waited[index])
        found: dict[tuple[str, str], Array] = {}
        for cause in (*CAUSES, *((SCHEDULER,) if f"wait_{SCHEDULER}_s" in self.result.summary else ())):
            for counted, seconds in zip(COUNTED, by_count):
                if counted[0] == cause and (counted[1] == WORDS[cause] or seconds.any()):
                    found[counted] = seconds
            found.update({reason: told[reason] for reason in sorted(told) if reason[0] == cause})
        found[ARRIVAL, WORDS[ARRIVAL]] = self._seen - jobs["submit_s"]
        if "evictions" in self.result.tables:
            found[EVICTION, WORDS[EVICTION]] = self._evicted_s()
        return found

    def evictions(self, row: int) -> list[Eviction]:
        """When and why a job lost its GPUs: a node failed or was drained, or the job failed by itself."""
        table = self.result.tables.get("evictions", {"job": np.empty(0)})
        return [
            Eviction(
                float(table["time_s"][i]),
                _LOST[str(table["cause"][i])].format(node=table["node"][i]),
                float(table["lost_gpu_seconds"][i]),
            )
            for i in np.flatnonzero(table["job"] == row).tolist()
        ]

    def sentence(self, row: int, history: list[Interval] | None = None) -> str:
        """The whole story of a job in one sentence; `history`: of the job, where it is known."""
        from blox.report.units import duration

        jobs, history = self.result.jobs, self.history(row) if history is None else history
        totals: dict[str, float] = {}
        for (_, words), seconds in totals_by_reason(history).items():
            totals[words] = totals.get(words, 0.0) + seconds
        waited = sum(totals.values())
        gpus, model = int(jobs["gpus"][row]), jobs["model"][row]
        subject = (
            f"Job {jobs['job_id'][row]} ({gpus} GPU{'s' if gpus != 1 else ''}{f', {model}' if model else ''})"
        )
        span = self._end[row] - jobs["submit_s"][row]
        tale = f"{subject} waited {duration(waited)} of its {duration(span)}"
        parts = [
            f"{duration(seconds)} because {words}"
            for words, seconds in sorted(totals.items(), key=lambda item: -item[1])
        ]
        if parts:
            tale += ": " + "; ".join(parts)
        stops = [f"{_STOPPED[kind]} {_times(n)}" for kind, n in self.interruptions(row).items() if n]
        ends = [
            f"it was {' and '.join(stops) or 'never interrupted'}",
            f"and {self._ending(row)}",
        ]
        return f"{tale}; {' '.join(ends)}."

    def interruptions(self, row: int) -> dict[str, int]:
        """How often a job was preempted, moved or lost its node, by kind."""
        return {kind: int(self.result.jobs[kind][row]) for kind in kinds_of(self.result.summary)}

    def _ending(self, row: int) -> str:
        jobs = self.result.jobs
        if (state := str(jobs["state"][row])) == ENDED_EARLY:
            return f"was ended early: {jobs['end_reason'][row]}"
        doing = "running" if state == "running" else "waiting"
        return "finished" if state == "finished" else f"was still {doing} when the run ended"

    @cached_property
    def _time(self) -> Array:
        return self.result.rounds["time_s"]

    @cached_property
    def _lasted(self) -> Array:
        """How long each row was valid, seconds."""
        return np.maximum(np.diff(np.append(self._time, self._end_s)), 0.0)

    @property
    def _end_s(self) -> float:
        return float(self.result.summary["end_s"])

    @cached_property
    def _end(self) -> Array:
        """When each job, or the run, ended."""
        finish = self.result.jobs["finish_s"]
        return np.where(np.isnan(finish), self._end_s, finish)

    @cached_property
    def _seen(self) -> Array:
        """When each job was first looked at: the first row at or after its submission."""
        return seen_s(self.result.jobs["submit_s"], self._time, self._end_s)

    @cached_property
    def _admit(self) -> Array:
        admit = self.result.jobs["admit_s"]
        return np.where(np.isnan(admit), self._end, admit)

    @cached_property
    def _stints(self) -> tuple[Array, Array, Array, Array, Array]:
        """Stints by job and time, a row per job and not per GPU: job, start, end, and where its GPUs are."""
        stints = self.result.stints
        order = np.lexsort((stints["start_s"], stints["job"]))
        job, start, stop = (stints[name][order] for name in ("job", "start_s", "end_s"))
        new = np.ones(len(job), dtype=bool)
        new[1:] = (job[1:] != job[:-1]) | (start[1:] != start[:-1])
        first = np.flatnonzero(new)
        return job[first], start[first], stop[first], np.append(first, len(job)), stints["gpu"][order]

    @cached_property
    def _gaps(self) -> tuple[Array, Array, Array]:
        """Every time that a job was admitted and not running: job, start, end."""
        job, start, stop, _, _ = self._stints
        count = len(self.result.jobs["job_id"])
        rows = np.arange(count)
        first, last = job.searchsorted(rows), job.searchsorted(rows, side="right")
        ran = last > first
        waiting_from = np.where(ran, stop[np.maximum(last, 1) - 1] if len(job) else 0.0, self._admit)
        again = np.flatnonzero(job[1:] == job[:-1]) + 1
        return (
            np.concatenate((rows[ran], job[again], rows)),
            np.concatenate((self._admit[ran], stop[again - 1], waiting_from)),
            np.concatenate((start[first[ran]], start[again], np.maximum(self._end, waiting_from))),
        )

    def _runs(self, row: int) -> list[tuple[float, float, tuple[int, ...]]]:
        job, start, stop, bounds, gpu = self._stints
        first, last = job.searchsorted(row), job.searchsorted(row, side="right")
        return [
            (float(start[i]), float(stop[i]), tuple(sorted(gpu[bounds[i] : bounds[i + 1]].tolist())))
            for i in range(first, last)
        ]

    @cached_property
    def _told(self) -> dict[str, Array]:
        """What policies have told, by job and time, up to the end of the run."""
        told = self.result.reasons
        return {**told, "end_s": np.minimum(told["end_s"], self._end_s)}

    def _told_by_count(self) -> Iterator[tuple[tuple[str, str], list[Array]]]:
        """For each (part, words) that was told: seconds that every job waited, for each of COUNTED."""
        told = self._told
        pairs = sorted({*zip(told["part"].tolist(), told["because"].tolist())})
        for part, words in pairs:
            here = (told["part"] == part) & (told["because"] == words)
            job, start, end = (told[name][here] for name in ("job", "start_s", "end_s"))
            if part != "admission":
                yield (part, words), self._by_count(job, start, end)
                continue
            held = np.zeros(len(self.result.jobs["job_id"]))
            np.add.at(held, job, end - start)
            yield (part, words), [held, *(np.zeros(1) for _ in COUNTED[1:])]

    def _told_of(self, row: int) -> list[Told]:
        told = self._told
        first, last = told["job"].searchsorted(row), told["job"].searchsorted(row, side="right")
        columns = (told[name][first:last].tolist() for name in ("start_s", "end_s", "part", "because"))
        return [Told(*each) for each in zip(*columns)]

    def _cause(self, gpus: int) -> Array:
        """Why a job of so many GPUs waited, had it been queued: an index into COUNTED per row."""
        rounds = self.result.rounds
        return counted_cause(gpus, rounds["free_gpus"], rounds["handed_out"], rounds["blocked"])

    def _by_count(self, job: Array, start: Array, stop: Array) -> list[Array]:
        """Seconds that every job waited in these intervals, for each of COUNTED."""
        gpus_of = self.result.jobs["gpus"]
        found = [np.zeros(len(gpus_of)) for _ in COUNTED]
        first, last = self._time.searchsorted(start), self._time.searchsorted(stop)
        for gpus in np.unique(gpus_of[job]).tolist():
            here = gpus_of[job] == gpus
            cause = self._cause(gpus)
            for index, sums in enumerate(found):
                seconds = np.concatenate(([0.0], np.cumsum(np.where(cause == index, self._lasted, 0.0))))
                np.add.at(sums, job[here], seconds[last[here]] - seconds[first[here]])
        return found

    def _evicted_s(self) -> Array:
        """Seconds that every job waited between the loss of its GPUs and the round that saw it."""
        job, start, stop = self._gaps
        seen = np.append(self._time, self._end_s)[self._time.searchsorted(start)]
        found = np.zeros(len(self.result.jobs["job_id"]))
        np.add.at(found, job, np.maximum(np.minimum(seen, stop) - start, 0.0))
        return found

    def _queued(self, start: float, stop: float, cause: Array) -> list[Interval]:
        """The time from `start` to `stop` in the queue, cut where the cause changes."""
        first, last = (int(self._time.searchsorted(time)) for time in (start, stop))
        found: list[Interval] = []
        seen = float(np.append(self._time, self._end_s)[first])
        if start < min(seen, stop):  # it lost its GPUs inside a round
            found.append(Interval(start, min(seen, stop), EVICTION))
        turns = np.flatnonzero(np.diff(cause[first:last])) + first + 1
        bounds = [first, *turns.tolist(), last] if first < last else []
        for index, beyond in itertools.pairwise(bounds):
            name, words = COUNTED[int(cause[index])]
            begin, end = float(self._time[index]), float(self._time[beyond - 1] + self._lasted[beyond - 1])
            found.append(Interval(begin, end, name, because=words))
        return found


def _without_dust(seconds: Array) -> Array:
    """Without what rounding leaves of a difference of sums."""
    return np.where(np.abs(seconds) < 1e-6, 0.0, seconds)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
