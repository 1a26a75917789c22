"""What a page that is kept up to date asks: what has changed since, and the queue as it stands."""

from __future__ import annotations

import math
from collections.abc import Iterator

from blox.cluster.central import views
from blox.cluster.central.ahead import Moment
from blox.cluster.central.records import QUEUED, Job
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.central.stints import gpus_of
from blox.cluster.protocol.queries import PAGE, InLine, JobRow, News, NodeRow, QueueView, Watch

_MOST_JOBS = 5_000  # in one answer: what fits into a message
_BY_SUBMISSION = "By submission: "


def since(scheduler: CentralScheduler, query: Watch, now: float) -> News:
    """What has changed since an answer of this term; everything, for any other."""
    whole = query.term != scheduler.term.term
    before = 0 if whole else query.version
    numbers, version = scheduler.changes.jobs_since(before, _MOST_JOBS)
    return News(
        scheduler.term.term,
        version,
        whole,
        version < scheduler.changes.version,
        now,
        scheduler.term.wall_s - scheduler.term.now,
        [job_row(scheduler, scheduler.jobs.all[number]) for number in numbers],
        list(_nodes(scheduler)) if before < scheduler.changes.nodes <= version else None,
        views.policies_view(scheduler, now),
        scheduler.changes.events_since(before, version),
        _progress(scheduler) if query.progress else None,
    )


def job_row(scheduler: CentralScheduler, job: Job) -> JobRow:
    stint = scheduler.stints.shown(job.job)
    granted = stint is not None and not stint.over and stint.phase != QUEUED
    held = gpus_of(stint, scheduler.nodes.first_gpu) if stint is not None and granted else ()
    spec = job.spec
    return JobRow(
        job.job,
        spec.name or " ".join(spec.command)[:80],
        spec.user,
        spec.tenant,
        spec.gpus,
        views.state_of(scheduler, job),
        held,
        job.submit_s,
        job.end_s if job.end else None,
        job.epoch,
        job.failures,
        -1 if stint is None else stint.iteration,
        max(job.checkpoint, -1 if stint is None else stint.checkpoint),
        job.expected_s,
        job.starts,
    )


def _nodes(scheduler: CentralScheduler) -> Iterator[NodeRow]:
    for record in scheduler.nodes.records.values():
        alive = scheduler.nodes.alive(record.node)
        yield NodeRow(record.node, record.gpus, record.gpu_type, record.state, alive)


def _progress(scheduler: CentralScheduler) -> list[tuple[int, int, int]]:
    stints = scheduler.stints.all.values()
    return [(each.job, each.iteration, each.checkpoint) for each in stints if each.started_s is not None]


def queue(scheduler: CentralScheduler, now: float) -> QueueView:
    """The jobs that wait, as a round now would have them; where policies fail, by submission, and why."""
    waiting = [job for job in scheduler.jobs.all.values() if not job.end and not job.commanded]
    moment = Moment.of(scheduler, now)
    if moment is None:
        return _by_submission(waiting, views.undecided(scheduler))
    try:
        found, standings = moment.in_line()
    except Exception as error:  # a policy of a user's may raise anything
        return _by_submission(waiting, f"the policies fail: {type(error).__name__}: {error}")
    by_row = {job.row: job for job in waiting}
    rows: list[InLine] = []
    gone = scheduler.nodes.gone
    for place, each in enumerate(standings, 1):
        job = by_row.pop(each.row, None)
        if job is not None and len(rows) < PAGE:
            why = found.blocked_by(each) + views.unanswered(job.spec, gone, scheduler.nodes.total_gpus)
            rows.append(InLine(job.job, place, _keys(each.keys), each.cause, why))
    # What remains would start in a round now, or has not been seen by one.
    others = [InLine(job.job, 0, (), "arrival", "it waits for the next round") for job in by_row.values()]
    return QueueView(len(waiting), [*others[: max(0, PAGE - len(rows))], *rows])


def _by_submission(waiting: list[Job], why: str) -> QueueView:
    rows = [InLine(job.job, place, (), "", "") for place, job in enumerate(waiting[:PAGE], 1)]
    return QueueView(len(waiting), rows, _BY_SUBMISSION + why)


def _keys(keys: tuple[float, ...]) -> tuple[float | None, ...]:
    return tuple(float(f"{key:.6g}") if math.isfinite(key) else None for key in keys)
