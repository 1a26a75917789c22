"""Client: a cluster from Python. The same as the commands `blox submit`, `jobs`, `nodes`, `cancel`, `policy`,
`drain`.

    >>> from blox.cluster import Client
    >>> cluster = Client()  # doctest: +SKIP
    >>> job = cluster.submit(["python", "train.py"], gpus=2)  # doctest: +SKIP
    >>> cluster.wait(job).state  # doctest: +SKIP
    'finished'
"""

from __future__ import annotations

import getpass
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from blox.cluster.protocol.messages import (
    Accepted,
    Cancel,
    JobSpec,
    Refused,
    Request,
    SetNode,
    SetPolicies,
    Submit,
)
from blox.cluster.protocol.queries import (
    PAGE,
    Guess,
    GuessStart,
    JobView,
    LifeEntry,
    ListJobs,
    ListNodes,
    NodeView,
    PoliciesView,
    Query,
    ShowJob,
    ShowPolicies,
)
from blox.cluster.shell.place import Place
from blox.errors import BloxError
from blox.state.node_events import NodeState

T = TypeVar("T")
_LOOK_S = 0.5
_DEADLINE_S = 5.0
_LOOK_AHEAD_S = 15.0  # longer than the scheduler may look ahead


class Client:
    """Every method raises BloxError, with the fix, for what cannot be done.

    A request is repeated while the scheduler starts again, for up to `patience_s`; it is carried out once.
    """

    def __init__(self, directory: str | Path | None = None, patience_s: float = 10.0) -> None:
        self._place, self._patience_s = Place.of(directory), patience_s

    def submit(self, command: Sequence[str], gpus: int = 1, **fields: object) -> int:
        """Submits a job, and returns its number once it is durable. `fields`: those of JobSpec."""
        user, here = getpass.getuser(), os.getcwd()
        given = {"user": user, "directory": here, **fields, "command": list(command), "gpus": gpus}
        try:
            spec = msgspec.convert(given, JobSpec)
        except msgspec.ValidationError as error:
            fix = "the fields are those of blox.cluster.protocol.messages.JobSpec"
            raise BloxError(f"not a job: {error}", where="submit", fix=fix) from None
        return self._request(Submit(uuid.uuid4().hex, spec)).job

    def cancel(self, job: int) -> None:
        self._request(Cancel(uuid.uuid4().hex, job))

    def set_policies(self, *, admission: str = "", scheduler: str = "", placement: str = "") -> None:
        """Other policies rule from the next round on; jobs that need not restart do not."""
        self._request(SetPolicies(uuid.uuid4().hex, admission, scheduler, placement))

    def set_node(self, node: str, state: NodeState) -> None:
        """up: takes jobs. draining: keeps the jobs it has, takes no other. down: its jobs leave."""
        self._request(SetNode(uuid.uuid4().hex, node, state))

    def jobs(self, *, ended: bool = True) -> list[JobView]:
        """Jobs in order of submission."""
        found: list[JobView] = []
        while True:
            page = self._ask(ListJobs(ended, found[-1].job if found else 0), list[JobView])
            found += page
            if len(page) < PAGE:
                return found

    def job(self, job: int) -> JobView:
        """One job with its life."""
        return self._ask(ShowJob(job), JobView)

    def guess_start(self, job: int, draws: int = 20) -> Guess:
        """When a job that waits would start, by running the loop ahead on a fork of the live state."""
        return self._ask(GuessStart(job, draws), Guess, _LOOK_AHEAD_S)

    def nodes(self) -> list[NodeView]:
        return self._ask(ListNodes(), list[NodeView])

    def policies(self) -> PoliciesView:
        return self._ask(ShowPolicies(), PoliciesView)

    def wait(self, job: int, timeout_s: float | None = None) -> JobView:
        """Waits until a job has ended."""
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        while (view := self.job(job)).end_s is None:
            if until_s is not None and time.monotonic() > until_s:
                raise BloxError(f"job {job} has not ended after {timeout_s:g} s: it is {view.state}")
            time.sleep(_LOOK_S)
        return view

    def events(self, job: int) -> Iterator[LifeEntry]:
        """What happens to a job, as it happens, until it has ended."""
        seen = 0
        while True:
            view = self.job(job)
            yield from view.life[seen:]
            seen = len(view.life)
            if view.end_s is not None:
                return
            time.sleep(_LOOK_S)

    def _request(self, request: Request) -> Accepted:
        return self._ask(request, Accepted)

    def _ask(self, request: Request | Query, kind: type[T], deadline_s: float = _DEADLINE_S) -> T:
        from blox.cluster.shell.wire import ask

        data, until_s = msgspec.msgpack.encode(request), time.monotonic() + self._patience_s
        while True:
            try:
                answer = ask(self._place.address(), self._place.token(), data, deadline_s)
                break
            except BloxError:
                if time.monotonic() > until_s or not self._place.supervisor_file.exists():
                    raise
                time.sleep(0.2)
        try:
            return msgspec.msgpack.decode(answer, type=kind)
        except msgspec.ValidationError:
            refused = msgspec.msgpack.decode(answer, type=Refused)
            raise BloxError(refused.what, where=refused.where, fix=refused.fix) from None
