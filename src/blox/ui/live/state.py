"""LiveState: the cluster as a page knows it, from the news of its scheduler; and messages for pages."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import msgspec

from blox.cluster.protocol.queries import Happening, JobRow, News, NodeRow, PoliciesView, QueueView
from blox.report import colours

_EVENTS = 300  # that a page is shown
_MOST_ENDED = 3_000  # jobs that have ended, of which the latest are kept
_SAMPLE_S = 2.0  # between two points of the history
_SAMPLES = 1_800  # an hour
_JOB, _STATE, _HELD, _END, _ITERATION, _CHECKPOINT = (
    JobRow.__struct_fields__.index(name)
    for name in ("job", "state", "held", "end_s", "iteration", "checkpoint")
)
JOB_COLUMNS = (*JobRow.__struct_fields__, "colour")

Message = tuple[str, bytes]  # the name of an event, and JSON


class LiveState:
    """Every change is a message for the pages that are open; `snapshot` is everything, for one that opens."""

    def __init__(self) -> None:
        self.last: News | None = None
        self.queue: QueueView | None = None
        self._jobs: dict[int, list[Any]] = {}
        self._nodes: list[NodeRow] = []
        self._events: deque[Happening] = deque(maxlen=_EVENTS)
        self._policies: PoliciesView | None = None
        self._history: deque[list[float]] = deque(maxlen=_SAMPLES)
        # `at`: when the scheduler answered last, by the wall clock; None: never
        self._contact: dict[str, Any] = {"ok": False, "why": "not asked yet", "at": None}
        self._number = 0  # of the latest news: a page drops those that its snapshot has already

    # -- what comes in -------------------------------------------------------------------------------

    def learn(self, news: News) -> Message | None:
        """Takes news in; returns what is to be told, if anything."""
        if news.whole:
            self._jobs.clear()
            self._events.clear()
        rows = [[*msgspec.to_builtins(row), colours.job_position(row.job)] for row in news.jobs]
        self._jobs.update({row[_JOB]: row for row in rows})
        moved = self._progress(news)
        if news.nodes is not None:
            self._nodes = news.nodes
        self._events.extend(news.events)
        before = None if self._policies is None else _words(self._policies)
        changed = bool(news.whole or rows or moved or news.events or news.nodes is not None)
        changed = changed or _words(news.policies) != before
        self._policies, self.last = news.policies, news
        self._forget()
        sample = self._sample(news.now_s)
        if not changed and sample is None:
            return None
        self._number += 1
        told = {
            "number": self._number,
            "now_s": news.now_s,
            "jobs": rows,
            "nodes": news.nodes,
            "policies": news.policies,
            "events": news.events,
            "progress": moved,
            "sample": sample,
        }
        return ("state", self.snapshot()) if news.whole else ("news", _json(told))

    def stand(self, queue: QueueView) -> Message | None:
        """The queue, if it is another one."""
        if queue == self.queue:
            return None
        self.queue = queue
        return "queue", _json(queue)

    def contact(self, why: str) -> Message | None:
        """The scheduler answers (""), or why not; told when that changes."""
        if self._contact["ok"] == (not why) and self._contact["why"] == why:
            return None
        at = time.time() if not why or self._contact["ok"] else self._contact["at"]
        self._contact = {"ok": not why, "why": why, "at": at}
        return "contact", _json(self._contact)

    # -- what goes out -------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Everything that a page shows."""
        return _json(
            {
                "number": self._number,
                "columns": JOB_COLUMNS,
                "palette": colours.JOBS,
                "causes": colours.CAUSES,
                "now_s": 0.0 if self.last is None else self.last.now_s,
                "origin_s": 0.0 if self.last is None else self.last.origin_s,
                "jobs": list(self._jobs.values()),
                "nodes": self._nodes,
                "policies": self._policies,
                "events": list(self._events),
                "queue": self.queue,
                "history": list(self._history),
                "contact": self._contact,
            }
        )

    # -- inside --------------------------------------------------------------------------------------

    def _progress(self, news: News) -> list[tuple[int, int, int]]:
        """Takes over how far jobs have come; returns those that have come further."""
        moved = []
        for job, iteration, checkpoint in news.progress or ():
            row = self._jobs.get(job)
            if row is not None and (row[_ITERATION], row[_CHECKPOINT]) != (iteration, checkpoint):
                row[_ITERATION], row[_CHECKPOINT] = iteration, max(checkpoint, row[_CHECKPOINT])
                moved.append((job, iteration, row[_CHECKPOINT]))
        return moved

    def _forget(self) -> None:
        ended = [job for job, row in self._jobs.items() if row[_END] is not None]
        for job in sorted(ended)[: max(0, len(ended) - _MOST_ENDED)]:
            del self._jobs[job]

    def _sample(self, now_s: float) -> list[float] | None:
        """A point of the history, if one is due: time, GPUs in use, GPUs, jobs running, jobs waiting."""
        if self._history and now_s < self._history[-1][0] + _SAMPLE_S:
            return None
        active = [row for row in self._jobs.values() if row[_END] is None]
        running = sum(bool(row[_HELD]) for row in active)
        used = sum(len(row[_HELD]) for row in active)
        total = sum(node.gpus for node in self._nodes if node.alive)
        point = [round(now_s, 2), used, total, running, len(active) - running]
        self._history.append(point)
        return point


def _words(policies: PoliciesView) -> tuple[str, ...]:
    return (
        policies.admission, policies.scheduler, policies.placement, policies.termination, policies.fault,
    )  # fmt: skip


_json = msgspec.json.encode
