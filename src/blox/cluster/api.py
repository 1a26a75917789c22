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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

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
    News,
    NodeView,
    PoliciesView,
    Query,
    QueueView,
    ShowJob,
    ShowPolicies,
    ShowQueue,
    Watch,
)
from blox.cluster.shell.place import Place
from blox.errors import BloxError
from blox.state.node_events import NodeState

if TYPE_CHECKING:
    from blox.cluster.shell.wire import Line

T = TypeVar("T")
_LOOK_S = 0.5
_DEADLINE_S = 5.0
_WATCH_S = 3.0  # a page should say soon that the scheduler does not answer
_LOOK_AHEAD_S = 15.0  # longer than the scheduler may look ahead


class RequestRefused(BloxError):
    """The scheduler answers, and says why it does not carry a request out: another one it may."""


class Client:
    """Every method raises BloxError, with the fix, for what cannot be done.

    A request is repeated while the scheduler starts again, for up to `patience_s`; it is carried out once.
    One connection is kept; `close` it, or use the client in a `with`.
    """

    def __init__(self, directory: str | Path | None = None, patience_s: float = 10.0) -> None:
        """`directory`: of the cluster; $BLOX_CLUSTER, or ~/.blox/cluster where none is named."""
        self._place, self._patience_s = Place.of(directory), patience_s
        self._line: Line | None = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The client can be used again: it connects anew."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def submit(
        self,
        command: Sequence[str],
        gpus: int = 1,
        *,
        name: str = "",
        expected_s: float | None = None,
        preemption: str = "iteration",
        launch: str = "command",
        directory: str | None = None,
        environment: Mapping[str, str] | None = None,
        min_gpus: int = 0,
        max_gpus: int = 0,
        priority: float = 0.0,
        user: str | None = None,
        tenant: str = "",
        loss_threshold: float | None = None,
    ) -> int:
        """Submits a job, and returns its number once it is durable.

        One process is started per GPU. `expected_s`: how long it will run, if that is known. `directory`:
        where it starts; here by default. `min_gpus`, `max_gpus`: for policies that resize jobs.
        `loss_threshold`: by what share its loss has to fall for it to go on, where jobs end by their loss.
        """
        given = {
            "command": list(command),
            "gpus": gpus,
            "name": name,
            "expected_s": expected_s,
            "preemption": preemption,
            "launch": launch,
            "directory": os.getcwd() if directory is None else directory,
            "environment": dict(environment or {}),
            "min_gpus": min_gpus,
            "max_gpus": max_gpus,
            "priority": priority,
            "user": getpass.getuser() if user is None else user,
            "tenant": tenant,
            "loss_threshold": loss_threshold,
        }
        try:
            spec = msgspec.convert(given, JobSpec)
        except msgspec.ValidationError as error:
            fix = "help(blox.cluster.Client.submit) tells what a job consists of"
            raise BloxError(f"not a job: {error}", where="submit", fix=fix) from None
        return self._request(Submit(uuid.uuid4().hex, spec)).job

    def cancel(self, job: int) -> None:
        self._request(Cancel(uuid.uuid4().hex, job))

    def set_policies(
        self, *, admission: str = "", scheduler: str = "", placement: str = "", termination: str = ""
    ) -> None:
        """Other policies rule from the next round on; jobs that need not restart do not.

        A file of one's own counts from here: `./mine.py:Mine`.
        """
        given = (absolute(spec) for spec in (admission, scheduler, placement, termination))
        self._request(SetPolicies(uuid.uuid4().hex, *given))

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

    def watch(self, last: News | None = None, *, progress: bool = False, wait_s: float = 0.0) -> News:
        """What has changed since the last answer; everything, without one or if the scheduler started again.

        `progress`: also how far jobs have come. `wait_s`: where nothing has changed, wait so long for it.
        """
        term, version = (0, 0) if last is None else (last.term, last.version)
        return self._ask(Watch(term, version, progress, wait_s), News, _WATCH_S + wait_s)

    def queue(self) -> QueueView:
        """The jobs that wait, in the order of the policies that rule, and why each does."""
        return self._ask(ShowQueue(), QueueView)

    def wait(self, job: int, timeout_s: float | None = None) -> JobView:
        """Waits until a job has ended."""
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        while (view := self.job(job)).end_s is None:
            if until_s is not None and time.monotonic() > until_s:
                raise BloxError(f"job {job} has not ended after {timeout_s:g} s: it is {view.state}")
            time.sleep(_LOOK_S)
        return view

    def events(self, job: int) -> Iterator[LifeEntry]:
        """What has happened to a job, and what happens, as it happens, until it has ended."""
        seen = 0
        while True:
            view = self.job(job)
            yield from view.life[seen:]
            seen = len(view.life)
            if view.end_s is not None:
                return
            time.sleep(_LOOK_S)

    def log(self, job: int, rank: int = 0, *, follow: bool = False) -> Iterator[str]:
        """The lines that a rank has printed, of all its starts; with `follow` until the job has ended.

        Logs are files in the cluster's directory: the last megabytes of each.
        """
        file, position, rest = self._place.job(job) / f"rank-{rank}.log", 0, b""
        while True:
            ended = self.job(job).end_s is not None
            if file.exists():
                printed, position = _printed(file, position)
                *lines, rest = (rest + printed).split(b"\n")
                yield from (line.decode(errors="replace") for line in lines)
            if ended or not follow:
                yield from filter(None, [rest.decode(errors="replace")])
                return
            time.sleep(_LOOK_S)

    def _request(self, request: Request) -> Accepted:
        return self._ask(request, Accepted)

    def _ask(self, request: Request | Query, kind: type[T], deadline_s: float = _DEADLINE_S) -> T:
        data, until_s = _encoded(request), time.monotonic() + self._patience_s
        while True:
            try:
                answer = self._connected().ask(self._place.token(), data, deadline_s)
                break
            except BloxError:
                self.close()
                if time.monotonic() > until_s or not self._place.supervisor_file.exists():
                    raise
                time.sleep(0.2)
        try:
            return msgspec.msgpack.decode(answer, type=kind)
        except msgspec.ValidationError:
            refused = msgspec.msgpack.decode(answer, type=Refused)
            raise RequestRefused(refused.what, where=refused.where, fix=refused.fix) from None

    def _connected(self) -> Line:
        """A connection to where the scheduler is now: it has another address when it starts again."""
        from blox.cluster.shell.wire import Line

        address = self._place.address()
        if self._line is None or self._line.address != address:
            self.close()
            self._line = Line(address)
        return self._line


def _printed(file: Path, position: int) -> tuple[bytes, int]:
    """What a rank has printed behind a position, which counts all that it ever printed, and where that ends.

    Of a log that was cut meanwhile: what is left, if the position is among what is left out.
    """
    from blox.cluster.shell.guard import CUT_BYTES, left_out

    with open(file, "rb") as stream:
        gone = left_out(stream.read(CUT_BYTES))
        shift = gone - CUT_BYTES if gone else 0
        known = gone <= position <= file.stat().st_size + shift
        stream.seek(position - shift if known else 0)
        return stream.read(), stream.tell() + shift


def _encoded(request: Request | Query) -> bytes:
    """Raises BloxError for what no message can hold."""
    try:
        return msgspec.msgpack.encode(request)
    except OverflowError:
        what, fix = "a number is too large for a message", "give one below 2**63"
    except UnicodeEncodeError as error:
        what, fix = f"a text is not Unicode: {error.object!a}", "name files and arguments in UTF-8"
    raise BloxError(what, where=type(request).__name__, fix=fix)


def absolute(spec: str) -> str:
    """The spec of a policy for the scheduler: a file counts from here, not from where the scheduler runs."""
    path, _, rest = spec.partition(".py:")
    return f"{Path(path).resolve()}.py:{rest}" if rest else spec
