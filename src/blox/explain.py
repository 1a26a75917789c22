"""Why did a job wait? Read from a finished run: its intervals of waiting with their cause, and of running.

Time is cut where the recorder wrote a row, so what the jobs of a run waited adds up to its summary. The
time between a submission and the round that sees it is called arrival: no scheduler could have acted yet.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.recording.recorder import CAUSES, wait_cause
from blox.results.interruptions import kinds_of
from blox.results.metrics import seen_s
from blox.results.outcomes import ENDED_EARLY
from blox.results.result import Result
from blox.workloads.table import Array

ARRIVAL, EVICTION, RUNNING = "arrival", "eviction", "running"
WORDS = {
    "admission": "admission control held it outside",
    "priority": "the GPUs it could have had went to jobs ahead of it",
    "capacity": "too few GPUs were free or came free",
    "fragmentation": "enough GPUs were free, but not where it could use them",
    ARRIVAL: "it had come between two rounds",
    EVICTION: "it had lost its GPUs between two rounds",
}
_LOST = {"failure": "{node} failed", "drain": "{node} was drained", "job": "the job failed"}
_STOPPED = {"preemptions": "preempted", "moves": "moved", "evictions": "evicted"}


@dataclass(frozen=True)
class Interval:
    """From `start_s` to `end_s` a job waited for one cause, or ran on `gpus`."""

    start_s: float
    end_s: float
    state: str  # one of CAUSES, "arrival", "eviction" or "running"
    gpus: tuple[int, ...] = ()

    @property
    def seconds(self) -> float:
        return self.end_s - self.start_s


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
        return [interval for interval in found if interval.seconds > 0]

    def waits(self) -> dict[str, Array]:
        """Seconds that every job waited, by cause, arrival included; the arrays are aligned with the jobs."""
        jobs = self.result.jobs
        found = {cause: np.zeros(len(jobs["job_id"])) for cause in CAUSES}
        found["admission"] += np.maximum(self._admit - self._seen, 0.0)
        job, start, stop = self._gaps
        first, last = self._time.searchsorted(start), self._time.searchsorted(stop)
        for gpus in np.unique(jobs["gpus"][job]).tolist():
            here = jobs["gpus"][job] == gpus
            cause = self._cause(gpus)
            for number, name in enumerate(CAUSES):
                seconds = np.concatenate(([0.0], np.cumsum(np.where(cause == number, self._lasted, 0.0))))
                np.add.at(found[name], job[here], seconds[last[here]] - seconds[first[here]])
        found[ARRIVAL] = self._seen - jobs["submit_s"]
        if "evictions" in self.result.tables:
            seen = np.append(self._time, self._end_s)[first]
            found[EVICTION] = np.zeros(len(jobs["job_id"]))
            np.add.at(found[EVICTION], job, np.maximum(np.minimum(seen, stop) - start, 0.0))
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

    def sentence(self, row: int) -> str:
        """The whole story of a job in one sentence."""
        from blox.report.units import duration

        jobs, history = self.result.jobs, self.history(row)
        totals = totals_of(history)
        waited = sum(totals.values())
        gpus, model = int(jobs["gpus"][row]), jobs["model"][row]
        who = (
            f"Job {jobs['job_id'][row]} ({gpus} GPU{'s' if gpus != 1 else ''}{f', {model}' if model else ''})"
        )
        span = self._end[row] - jobs["submit_s"][row]
        tale = f"{who} waited {duration(waited)} of its {duration(span)}"
        causes = sorted((cause for cause in totals if totals[cause] > 0), key=lambda c: -totals[c])
        if causes:
            parts = [f"{duration(totals[cause])} because {WORDS[cause]}" for cause in causes]
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

    def _cause(self, gpus: int) -> Array:
        """Why a job of so many GPUs waited, had it been queued: an index into CAUSES per row."""
        rounds = self.result.rounds
        return wait_cause(gpus, rounds["free_gpus"], rounds["handed_out"], rounds["blocked"])

    def _queued(self, start: float, stop: float, cause: Array) -> list[Interval]:
        """The time from `start` to `stop` in the queue, cut where the cause changes."""
        first, last = (int(self._time.searchsorted(time)) for time in (start, stop))
        found: list[Interval] = []
        seen = float(np.append(self._time, self._end_s)[first])
        if start < min(seen, stop):  # it lost its GPUs inside a round
            found.append(Interval(start, min(seen, stop), EVICTION))
        for index in range(first, last):
            name = CAUSES[int(cause[index])]
            begin, end = float(self._time[index]), float(self._time[index] + self._lasted[index])
            if found and found[-1].state == name:
                found[-1] = Interval(found[-1].start_s, end, name)
            else:
                found.append(Interval(begin, end, name))
        return found


def totals_of(history: list[Interval]) -> dict[str, float]:
    """Seconds waited by cause, arrivals and evictions between two rounds included."""
    totals = dict.fromkeys((*CAUSES, ARRIVAL), 0.0)
    for interval in history:
        if interval.state != RUNNING:
            totals[interval.state] = totals.get(interval.state, 0.0) + interval.seconds
    return totals


def places(gpus: tuple[int, ...], experiment: Mapping[str, Any]) -> str:
    """GPUs by node: `node-3: 12-15`; by number alone where the cluster's file is not there any more."""
    from blox.state.cluster_spec import cluster_from_spec

    try:
        nodes = cluster_from_spec(str(experiment.get("cluster", ""))).nodes
    except BloxError:
        return _ranges(gpus)
    ends = np.cumsum([node.gpus for node in nodes])
    by_node: dict[int, list[int]] = {}
    for gpu in gpus:
        by_node.setdefault(int(ends.searchsorted(gpu, side="right")), []).append(gpu)
    if max(by_node, default=0) >= len(nodes):
        return _ranges(gpus)
    return ", ".join(f"{nodes[node].name}: {_ranges(tuple(here))}" for node, here in by_node.items())


def _ranges(numbers: tuple[int, ...]) -> str:
    pieces: list[list[int]] = []
    for number in numbers:
        if pieces and pieces[-1][-1] == number - 1:
            pieces[-1].append(number)
        else:
            pieces.append([number])
    return " ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else f"{p[0]}" for p in pieces)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
