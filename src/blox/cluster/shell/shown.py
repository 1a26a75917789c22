"""What users are shown of the cluster: from the scheduler's state, its journal, and a fork run ahead."""

from __future__ import annotations

import threading
import time

from blox.cluster.central import news, views
from blox.cluster.central.ahead import Moment
from blox.cluster.central.records import ENDED, LIVES, Job, ended_key, under
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.protocol import queries
from blox.cluster.protocol.messages import Refused
from blox.cluster.protocol.queries import Guess, LifeEntry
from blox.cluster.shell.journal import Journal
from blox.cluster.shell.wire import Busy

LOOK_S = 4.0  # for which a look ahead may go on
_MOST_DRAWS = 1_000


class Shown:
    """Answers queries, on the thread that has the scheduler; `guess` may be called from any."""

    def __init__(self, scheduler: CentralScheduler, journal: Journal) -> None:
        self._scheduler, self._journal = scheduler, journal
        self._guessing = threading.Lock()

    def view(self, query: queries.Query, now: float) -> object:
        scheduler = self._scheduler
        if isinstance(query, queries.ListJobs):
            return self._jobs(query)
        if isinstance(query, queries.ListNodes):
            return views.nodes_view(scheduler)
        if isinstance(query, queries.ShowPolicies):
            return views.policies_view(scheduler, now)
        if isinstance(query, queries.Watch):
            return news.since(scheduler, query, now)
        if isinstance(query, queries.ShowQueue):
            return news.queue(scheduler, now)
        job = scheduler.find(query.job)
        if job is None:
            return Refused("", f"there is no job {query.job}", fix="`blox jobs` lists the jobs")
        if isinstance(query, queries.GuessStart):
            return self._forked(job, now)
        prefix = f"{LIVES}{query.job:010d}/"
        life = tuple(under(self._journal.under(prefix), prefix, LifeEntry))
        return views.job_view(scheduler, job, now, life)

    def guess(self, forked: tuple[Moment, int], draws: int) -> Guess:
        """When a job would start, by the fork that `view` gave. One at a time: it takes as long as it may."""
        if not self._guessing.acquire(blocking=False):
            raise Busy("the scheduler is looking ahead for another request: ask again")
        try:
            moment, row = forked
            return moment.guess(row, max(1, min(draws, _MOST_DRAWS)), time.monotonic() + LOOK_S)
        finally:
            self._guessing.release()

    def _forked(self, job: Job, now: float) -> tuple[Moment, int] | Guess | Refused:
        if job.end:
            return Refused("", f"job {job.job} has ended: {job.end}")
        if job.commanded:
            return Guess(0.0, 0.0, 0.0, 0)
        moment = Moment.of(self._scheduler, now)
        if job.row < 0 or moment is None:
            fix = "ask again after the next round" if self._scheduler.nodes.records else "add a node first"
            return Refused("", f"job {job.job} was not seen by the policies yet", fix=fix)
        return moment, job.row

    def _jobs(self, query: queries.ListJobs) -> list[queries.JobView]:
        """A page of jobs: those in memory, and of the journal those that were forgotten."""
        forgotten: list[Job] = []
        if query.ended:
            records = self._journal.under(ENDED, ended_key(max(0, query.after)), queries.PAGE)
            forgotten = under(records, ENDED, Job)
        return views.jobs_view(self._scheduler, query, forgotten)
