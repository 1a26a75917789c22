"""What users ask of the scheduler, and its answers. What cannot be done is refused in words."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from blox.cluster.central.job_checks import check_spec
from blox.cluster.central.records import Asked
from blox.cluster.protocol.messages import (
    Accepted,
    Answer,
    Cancel,
    Refused,
    Request,
    SetNode,
    SetPolicies,
    Submit,
)
from blox.errors import BloxError, suggestion
from blox.experiment.parts import policy_from_spec

if TYPE_CHECKING:
    from blox.cluster.central.scheduler import CentralScheduler

CANCELLED = "cancelled"
_LONGEST_REQUEST = 200  # characters
_MOST_JOBS = 100_000  # that have not ended


def answer(scheduler: CentralScheduler, request: Request, now: float) -> Answer:
    """Carries a request out, or says why not. One that was carried out before is answered as it was then."""
    try:
        if not 0 < len(request.request) <= _LONGEST_REQUEST:
            raise BloxError(
                "the request has no name, or a long one", fix=f"1 to {_LONGEST_REQUEST} characters"
            )
        digest = blake2b(msgspec.msgpack.encode(request), digest_size=8).digest()
        asked = scheduler.asked(request.request)
        if asked is None:
            asked = Asked(digest, _carry_out(scheduler, request, now))
            scheduler.accept(request.request, asked)
        elif asked.digest != digest:
            raise BloxError("another request had this name", fix="give every request a name of its own")
        return Accepted(request.request, asked.job)
    except BloxError as error:
        return Refused(request.request, error.what, error.where, error.fix)


def _carry_out(scheduler: CentralScheduler, request: Request, now: float) -> int:
    """The number of the job that it became; -1: it is no submission."""
    if isinstance(request, Submit):
        return _submit(scheduler, request, now)
    if isinstance(request, Cancel):
        _cancel(scheduler, request, now)
    elif isinstance(request, SetPolicies):
        _set_policies(scheduler, request)
    else:
        _set_node(scheduler, request, now)
    return -1


def _submit(scheduler: CentralScheduler, request: Submit, now: float) -> int:
    spec = request.spec
    check_spec(spec, scheduler.nodes.total_gpus)
    if scheduler.jobs.unfinished >= _MOST_JOBS:
        raise BloxError(
            f"{_MOST_JOBS:,} jobs have not ended",
            where="submit",
            fix="wait, or cancel some",
        )
    job = scheduler.jobs.submit(request.request, spec, scheduler.history.believe(spec), now)
    scheduler.ledger.record(job, "submitted", now)
    return job.job


def _cancel(scheduler: CentralScheduler, request: Cancel, now: float) -> None:
    job = scheduler.find(request.job)
    if job is None:
        raise BloxError(f"there is no job {request.job}", where="cancel", fix="`blox jobs` lists the jobs")
    if job.end and job.end != CANCELLED:
        raise BloxError(f"job {job.job} has ended already: {job.end}", where="cancel")
    if not job.verdict and not job.end:
        scheduler.jobs.condemn(job, CANCELLED)
        if job.row < 0:
            scheduler.ledger.record(job, CANCELLED, now)
            scheduler.jobs.end(job, CANCELLED, now)


def _set_policies(scheduler: CentralScheduler, request: SetPolicies) -> None:
    kinds = ("admission", "scheduler", "placement", "termination")
    wanted = {name: spec for name in kinds if (spec := getattr(request, name))}
    if not wanted:
        raise BloxError("no policy was named", where="policy", fix=f"name one: {', '.join(kinds)}")
    for name, spec in wanted.items():
        policy_from_spec("scheduling" if name == "scheduler" else name, spec)
    scheduler.change_policies(replace(scheduler.policies, **wanted))


def _set_node(scheduler: CentralScheduler, request: SetNode, now: float) -> None:
    if request.node not in scheduler.nodes.records:
        raise BloxError(
            f"no node is called {request.node!r}",
            where="drain",
            fix=suggestion(request.node, scheduler.nodes.records),
        )
    scheduler.nodes.set_state(request.node, request.state, now)
