"""A running cluster as frames, from the news of its scheduler."""

from __future__ import annotations

import contextlib
import time

from blox.cluster.names import by_number
from blox.cluster.protocol.queries import JobRow, News, NodeRow, QueueView
from blox.errors import BloxError
from blox.report.units import counted, duration
from blox.ui.live.watcher import Cluster
from blox.ui.top.frame import DOWN, FREE, Frame, Listed, Node


class RunningTop:
    """Frames of one cluster. What does not answer is said in the frame, with what was known before."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster, self._name = cluster, name
        self._last: News | None = None
        self._heard_s = 0.0  # when it answered last, on the monotonic clock
        self._jobs: dict[int, JobRow] = {}
        self._nodes: list[NodeRow] = []
        self._progress: dict[int, int] = {}
        self._queue = QueueView(0, [])

    def now(self) -> Frame:
        """The cluster as it is. Raises BloxError where it has never answered."""
        fault = ""
        try:
            self._look()
        except BloxError as error:
            if self._last is None:
                raise
            silent_s = time.monotonic() - self._heard_s
            fault = f"stale for {duration(silent_s)}: {error.what}"
        assert self._last is not None
        policies = self._last.policies
        jobs = self._jobs.values()
        ended = sum(job.end_s is not None for job in jobs)
        named = (policies.admission, policies.scheduler, policies.placement)
        facts = [
            " + ".join(named),
            counted(ended, "job has ended", "jobs have ended"),
            f"rounds of {policies.round_s:g} s",
        ]
        lists = (self._running(), self._waiting())
        return Frame(self._name, facts, self._map(), lists, fault or policies.fault)

    def _look(self) -> None:
        while True:
            news = self._cluster.watch(self._last, progress=True)
            if news.whole:
                self._jobs.clear()
            self._jobs.update({job.job: job for job in news.jobs})
            self._nodes = self._nodes if news.nodes is None else news.nodes
            self._progress.update({job: iteration for job, iteration, _ in news.progress or ()})
            self._last, self._heard_s = news, time.monotonic()
            if not news.more:
                break
        with contextlib.suppress(BloxError):  # busy: the queue of before is good enough
            self._queue = self._cluster.queue()

    def _map(self) -> list[Node]:
        owner = {gpu: job.job for job in self._jobs.values() if job.end_s is None for gpu in job.held}
        found, first = [], 0
        for node in self._nodes:
            empty = FREE if node.alive and node.state != "down" else DOWN
            note = node.state if node.alive else "does not answer"
            owners = [owner.get(gpu, empty) for gpu in range(first, first + node.gpus)]
            found.append(Node(node.node, owners, "" if note == "up" else note))
            first += node.gpus
        return sorted(found, key=lambda node: by_number(node.name))

    def _running(self) -> Listed:
        now = self._last.now_s if self._last is not None else 0.0
        active = [job for job in self._jobs.values() if job.end_s is None and job.held]
        rows = [
            (
                str(job.job),
                job.state,
                str(job.gpus),
                duration(now - job.submit_s),
                f"{self._progress.get(job.job, job.iteration):,}"
                if self._progress.get(job.job, job.iteration) >= 0
                else "-",
                job.user,
                job.name,
            )
            for job in active
        ]
        heads = ("job", "state", "GPUs", "age", "iteration", "user", "name")
        return Listed(f"{len(active):,} on GPUs", heads, rows)

    def _waiting(self) -> Listed:
        now = self._last.now_s if self._last is not None else 0.0
        rows = []
        for each in self._queue.rows:
            job = self._jobs.get(each.job)
            if job is not None:
                waited = duration(now - job.submit_s)
                rows.append((str(each.place or "-"), str(job.job), str(job.gpus), waited, job.name, each.why))
        heads = ("place", "job", "GPUs", "age", "name", "what blocks it")
        waiting = self._queue.waiting
        return Listed(f"{waiting:,} waiting", heads, rows, self._queue.note, waiting)
