"""What users see of the scheduler's state: jobs, nodes, policies. Reading changes nothing."""

from __future__ import annotations

from collections.abc import Iterable

from blox.cluster.central.ahead import Moment
from blox.cluster.central.records import DROPPED, QUEUED, Job, NodeRecord
from blox.cluster.central.scheduler import CentralScheduler
from blox.cluster.preemption import preemption_of
from blox.cluster.protocol.messages import JobSpec
from blox.cluster.protocol.queries import (
    PAGE,
    JobView,
    LifeEntry,
    ListJobs,
    NodeView,
    PoliciesView,
    Queueing,
)

_NAMED = 5  # nodes that do not answer, in a sentence
_LONGEST_COMMAND = 500  # characters of a command in a list


def jobs_view(scheduler: CentralScheduler, query: ListJobs, forgotten: Iterable[Job] = ()) -> list[JobView]:
    """A page of jobs. `forgotten`: those behind `query.after` that the scheduler does not keep."""
    known = [job for job in scheduler.jobs.all.values() if query.ended or not job.end]
    behind = [job for job in (*known, *forgotten) if job.job > query.after]
    page = sorted(behind, key=lambda job: job.job)[:PAGE]
    return [job_view(scheduler, job, short=True) for job in page]


def job_view(
    scheduler: CentralScheduler,
    job: Job,
    now: float = 0.0,
    life: tuple[LifeEntry, ...] = (),
    *,
    short: bool = False,
) -> JobView:
    stint = scheduler.stints.shown(job.job)
    return JobView(
        job.job,
        job.spec.name,
        job.spec.user,
        job.spec.gpus,
        state_of(scheduler, job),
        () if stint is None else tuple(share.node for share in stint.shares if not share.outcome),
        job.submit_s,
        job.end_s if job.end else None,
        job.epoch,
        job.failures,
        -1 if stint is None else stint.iteration,
        max(job.checkpoint, -1 if stint is None else stint.checkpoint),
        _shortened(job.spec.command) if short else job.spec.command,
        job.expected_s,
        job.expected_from,
        {} if short else _metrics(scheduler, job),
        None if short else queueing(scheduler, job, now),
        scheduler.term.wall_s - scheduler.term.now,
        life,
        job.starts,
    )


def nodes_view(scheduler: CentralScheduler) -> list[NodeView]:
    views = []
    for record in scheduler.nodes.records.values():
        shares = scheduler.stints.assigned(record.node)
        views.append(
            NodeView(
                record.node,
                record.gpus,
                sum(len(share.slots) for _, share in shares),
                record.gpu_type,
                record.state,
                scheduler.nodes.alive(record.node),
                record.address,
                tuple(sorted(stint.job for stint, _ in shares)),
            )
        )
    return views


def policies_view(scheduler: CentralScheduler, now: float) -> PoliciesView:
    own, fault = scheduler.policies, scheduler.notice
    if scheduler.fault:
        fault = f"the latest round failed, and what was decided before stays: {scheduler.fault}"
    round_s = scheduler.timing.round_s
    return PoliciesView(
        own.admission, own.scheduler, own.placement, now, round_s, fault, termination=own.termination
    )


def state_of(scheduler: CentralScheduler, job: Job) -> str:
    """What a job does, in a word; how it ended, if it has."""
    if job.end:
        return job.end
    if job.verdict or scheduler.stints.done(job.job):
        return "ending"
    stint = scheduler.stints.shown(job.job)
    if stint is None or stint.over:
        return "ending" if stint is not None and job.commanded == stint.epoch else "waiting"
    if stint.phase == QUEUED and job.retry_s > scheduler.manager.now:
        return "failed, to be tried again"
    if stint.phase == QUEUED or stint.started_s is None:
        return "starting" if job.commanded else "waiting"
    stays = stint.phase != DROPPED and preemption_of(job.spec.preemption).waits
    return "running" if stays or job.commanded == stint.epoch else "stopping"


def queueing(scheduler: CentralScheduler, job: Job, now: float) -> Queueing | None:
    """Why a job waits, and its place in line; None: it does not wait."""
    if job.end or job.commanded:
        return None
    if job.verdict:
        return Queueing(0, f"it is about to be ended: {job.verdict}")
    moment = Moment.of(scheduler, now)
    if job.row < 0 or moment is None:
        ahead = sum(not other.end and not other.commanded for other in scheduler.jobs.all.values())
        return Queueing(ahead, "it waits for the next round" if moment else undecided(scheduler))
    try:
        found = moment.queueing(job.row) or Queueing(1, "it starts in the next round")
        return Queueing(
            found.place, found.why + unanswered(job.spec, scheduler.nodes.gone, scheduler.nodes.total_gpus)
        )
    except Exception as error:  # a policy of a user's may raise anything
        return Queueing(0, f"the policies fail: {type(error).__name__}: {error}")


def unanswered(spec: JobSpec, gone: list[NodeRecord], gpus: int) -> str:
    """What to say of a job that needs more GPUs than there are on nodes that answer; "" of others.

    `gone`: the nodes that do not; `gpus`: of all nodes.
    """
    lost = sum(record.gpus for record in gone)
    if (spec.min_gpus or spec.gpus) <= gpus - lost:
        return ""
    named = ", ".join(record.node for record in gone[:_NAMED]) + (", ..." if len(gone) > _NAMED else "")
    return f"; {lost:,} of {gpus:,} GPUs are on nodes that do not answer ({named})"


def undecided(scheduler: CentralScheduler) -> str:
    """Why nothing could be decided yet."""
    return "it waits for the first round" if scheduler.nodes.records else "no node has joined"


def _metrics(scheduler: CentralScheduler, job: Job) -> dict[str, float]:
    return {} if job.row < 0 else scheduler.job_state.metrics_of(job.row)


def _shortened(command: tuple[str, ...]) -> tuple[str, ...]:
    """As many words as fit into a list."""
    kept: list[str] = []
    left = _LONGEST_COMMAND
    for word in command:
        if len(word) > left:
            return (*kept, f"{word[:left]}...")
        kept.append(word)
        left -= len(word) + 1
    return tuple(kept)
