"""A finished run as frames: the cluster at any time, its queue as it was traced or by submission."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from blox.recording.stints import held_at
from blox.report import series
from blox.report.units import counted, duration
from blox.ui.film.cluster import cluster_of
from blox.ui.film.order import Order
from blox.ui.film.queue import queue_at
from blox.ui.film.runs import Filmed
from blox.ui.top.frame import DOWN, FREE, Frame, Listed, Node
from blox.workloads.table import Array


class FinishedTop:
    """Frames of one run."""

    def __init__(self, filmed: Filmed, label: str) -> None:
        self._result, self._label, self._note = filmed.result, label, filmed.note
        self._order = Order.traced(filmed)
        self.end_s = series.end_of(filmed.result)
        self.begin_s = float(filmed.result.jobs["submit_s"].min())

    @property
    def busiest_s(self) -> float:
        """The time at which most jobs wait."""
        rounds = self._result.rounds
        waiting = rounds["held"] + rounds["queued"]
        return float(rounds["time_s"][int(waiting.argmax())]) if len(waiting) else self.begin_s

    def at(self, time_s: float) -> Frame:
        """The cluster at a time of the run (s)."""
        result = self._result
        stints = result.stints
        here = np.flatnonzero(held_at(stints, time_s, result.jobs["state"]))
        rows, first = np.unique(stints["job"][here], return_index=True)
        ended = int((result.jobs["finish_s"] <= time_s).sum())
        experiment = result.experiment
        settings = [str(experiment.get(name, "")) for name in ("workload", "cluster")]
        facts = [
            f"{duration(time_s)} of {duration(self.end_s)}",
            counted(ended, "job has ended", "jobs have ended"),
            *filter(None, settings),
        ]
        title = f"{self._label}{f' ({self._note})' if self._note else ''}"
        running = self._running(rows, here[first], time_s)
        return Frame(title, facts, self._nodes(here, time_s), (running, self._queue(time_s)))

    @cached_property
    def _cluster(self) -> list[tuple[str, int]]:
        return [(str(name), int(gpus)) for name, gpus, *_ in cluster_of(self._result)["nodes"]]

    def _nodes(self, here: Array, time_s: float) -> list[Node]:
        owners = np.full(sum(gpus for _, gpus in self._cluster), FREE)
        outages = self._result.tables.get("outages")
        if outages is not None:
            down = (outages["down_s"] <= time_s) & (time_s < outages["up_s"])
            for gpu, count in zip(outages["gpu"][down].tolist(), outages["gpus"][down].tolist()):
                owners[int(gpu) : int(gpu + count)] = DOWN
        owners[self._result.stints["gpu"][here]] = self._result.stints["job"][here]
        ends = np.cumsum([gpus for _, gpus in self._cluster])
        parts = np.split(owners, ends[:-1]) if len(ends) else []
        return [
            Node(name, part.tolist(), "down" if DOWN in part.tolist() else "")
            for (name, _), part in zip(self._cluster, parts)
        ]

    def _running(self, rows: Array, stint: Array, time_s: float) -> Listed:
        """The jobs on GPUs, those that have been there longest first."""
        jobs, since = self._result.jobs, self._result.stints["start_s"][stint]
        told = [
            (
                str(jobs["job_id"][row]),
                str(jobs["gpus"][row]),
                duration(time_s - start),
                str(jobs["user"][row]),
                str(jobs["model"][row]),
            )
            for start, row in sorted(zip(since.tolist(), rows.tolist()))
        ]
        return Listed(f"{len(rows):,} running", ("job", "GPUs", "for", "user", "model"), told)

    def _queue(self, time_s: float) -> Listed:
        found, jobs = queue_at(self._result, self._order, time_s), self._result.jobs
        told = [
            (
                str(place or "-"),
                str(jobs["job_id"][row]),
                str(gpus),
                duration(time_s - float(jobs["submit_s"][row])),
                cause,
                words,
            )
            for place, row, gpus, _, cause, words in found["rows"]
        ]
        note = "by submission: the run was not traced" if found["note"] else "in the scheduler's own order"
        heads = ("place", "job", "GPUs", "age", "cause", "what blocks it")
        return Listed(f"{found['waiting']:,} waiting", heads, told, note, found["waiting"])
