"""What users see of the scheduler's state: jobs, nodes, policies. Reading changes nothing."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from blox.cluster.central.records import QUEUED, STOPPING, Job, LifeEntry
from blox.cluster.central.scheduler import CentralScheduler
from blox.state.node_events import NodeState

PAGE = 500  # jobs in one answer
_LONGEST_COMMAND = 500  # characters of a command in a list


class ListJobs(msgspec.Struct, frozen=True, tag=True):
    """Jobs in order of submission, those behind `after`, PAGE at most; only those that have not ended, unless
    `ended`."""

    ended: bool = False
    after: int = 0


class ShowJob(msgspec.Struct, frozen=True, tag=True):
    job: int


class ListNodes(msgspec.Struct, frozen=True, tag=True):
    pass


class ShowPolicies(msgspec.Struct, frozen=True, tag=True):
    pass


Query = ListJobs | ShowJob | ListNodes | ShowPolicies


class JobView(msgspec.Struct, frozen=True):
    """`state`: waiting, starting, running, stopping, failed (to be tried again), or how it ended. Times are
    those of the cluster (s)."""

    job: int
    name: str
    user: str
    gpus: int
    state: str
    nodes: tuple[str, ...]
    submit_s: float
    end_s: float | None
    epoch: int
    failures: int
    iteration: int
    checkpoint: int
    place: int | None  # in the wait queue, from 1; None: it does not wait
    command: tuple[str, ...]
    life: tuple[LifeEntry, ...] = ()


class NodeView(msgspec.Struct, frozen=True):
    """`state` is what the operator wants; `alive` whether its worker manager answers."""

    node: str
    gpus: int
    used: int
    gpu_type: str
    state: NodeState
    alive: bool
    address: str
    jobs: tuple[int, ...]


class PoliciesView(msgspec.Struct, frozen=True):
    """`fault`: what a policy did wrong in the latest round, or what was lost at a restart."""

    admission: str
    scheduler: str
    placement: str
    now_s: float
    round_s: float
    fault: str


def jobs_view(scheduler: CentralScheduler, query: ListJobs, forgotten: Iterable[Job] = ()) -> list[JobView]:
    """A page of jobs. `forgotten`: those behind `query.after` that the scheduler does not keep."""
    known = [job for job in scheduler.jobs.all.values() if query.ended or not job.end]
    behind = [job for job in (*known, *forgotten) if job.job > query.after]
    page = sorted(behind, key=lambda job: job.job)[:PAGE]
    return [job_view(scheduler, job, short=True) for job in page]


def job_view(
    scheduler: CentralScheduler, job: Job, life: tuple[LifeEntry, ...] = (), *, short: bool = False
) -> JobView:
    stint = scheduler.stints.all.get((job.job, job.epoch))
    return JobView(
        job.job,
        job.spec.name,
        job.spec.user,
        job.spec.gpus,
        _state(scheduler, job),
        () if stint is None else tuple(share.node for share in stint.shares),
        job.submit_s,
        job.end_s if job.end else None,
        job.epoch,
        job.failures,
        -1 if stint is None else stint.iteration,
        max(job.checkpoint, -1 if stint is None else stint.checkpoint),
        _place(scheduler, job),
        _shortened(job.spec.command) if short else job.spec.command,
        life,
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
    return PoliciesView(own.admission, own.scheduler, own.placement, now, scheduler.timing.round_s, fault)


def _state(scheduler: CentralScheduler, job: Job) -> str:
    if job.end:
        return job.end
    stint = scheduler.stints.all.get((job.job, job.epoch))
    if stint is None or stint.over:
        return "waiting"
    if stint.phase == QUEUED and job.retry_s > scheduler.manager.now:
        return "failed, to be tried again"
    if stint.phase == QUEUED or stint.started_s is None:
        return "starting" if job.commanded else "waiting"
    return "stopping" if stint.phase == STOPPING or not job.commanded else "running"


def _place(scheduler: CentralScheduler, job: Job) -> int | None:
    """By submission: what the policies make of it is their affair."""
    if job.end or job.commanded:
        return None
    waiting = [other.job for other in scheduler.jobs.all.values() if not other.end and not other.commanded]
    return waiting.index(job.job) + 1


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
