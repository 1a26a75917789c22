"""The server of the live page: news as they come, one job on request, and what the token allows to change."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from blox.catalogue import catalogue
from blox.cluster.api import Client
from blox.cluster.shell.place import Place
from blox.errors import BloxError
from blox.ui import assets
from blox.ui.live.job_files import curves_of, log_of
from blox.ui.live.pages import MOST, Pages
from blox.ui.live.watcher import Watcher
from blox.ui.security import Protected, refusal

_LARGEST = 64 << 10  # bytes of a request
_PATIENCE_S = 5.0  # for which a request of a user is repeated while the scheduler starts again
_PARTS = ("admission", "placement", "termination")
_KINDS = {"scheduler": "scheduling", **{part: part for part in _PARTS}}


class NewJob(msgspec.Struct, forbid_unknown_fields=True):
    """A job as the page submits it; `command` is one line, in words as a shell splits them."""

    command: str
    gpus: int = 1
    name: str = ""
    directory: str = ""
    preemption: str = "iteration"
    tenant: str = ""
    priority: float = 0.0
    expected_s: float | None = None


class CancelJob(msgspec.Struct, forbid_unknown_fields=True):
    job: int


class NewPolicies(msgspec.Struct, forbid_unknown_fields=True):
    scheduler: str = ""
    admission: str = ""
    placement: str = ""
    termination: str = ""


class NewNodeState(msgspec.Struct, forbid_unknown_fields=True):
    node: str
    state: str


class LiveServer:
    """Answers what `static/live/` asks."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._client = Client(place.root, patience_s=_PATIENCE_S)
        self._watching = Client(place.root, patience_s=0.0)  # what does not answer is told, not waited for
        self._pages = Pages()
        self._watcher = Watcher(self._watching, self._pages.tell)

    def app(self, hosts: Sequence[str]) -> ASGIApp:
        routes = [
            assets.page("live.html"),
            Route("/live/cluster.json", self._cluster),
            Route("/live/events", self._events),
            Route("/live/policies.json", self._policies),
            Route("/live/job/{job:int}", self._job),
            Route("/live/job/{job:int}/log", self._log),
            Route("/live/job/{job:int}/curves", self._curves),
            Route("/live/token", self._changes(type(None), lambda _: None), methods=["POST"]),
            Route("/live/submit", self._changes(NewJob, self._submit), methods=["POST"]),
            Route("/live/cancel", self._changes(CancelJob, self._cancel), methods=["POST"]),
            Route("/live/policy", self._changes(NewPolicies, self._set_policies), methods=["POST"]),
            Route("/live/node", self._changes(NewNodeState, self._set_node), methods=["POST"]),
            *assets.routes(),
        ]
        return Protected(Starlette(routes=routes, lifespan=self._lifespan), hosts)

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._pages.begin()
        self._watcher.start()
        yield

    def end(self) -> None:
        """Ends the watcher, and the answers to pages that are open."""
        self._watcher.close()
        self._pages.end()

    # -- what is read --------------------------------------------------------------------------------

    async def _cluster(self, _: Request) -> Response:
        return JSONResponse({"directory": str(self._place.root)})

    async def _events(self, _: Request) -> Response:
        if len(self._pages) >= MOST:
            raise HTTPException(503, f"{MOST} pages are open already")
        return EventSourceResponse(self._sent(), ping=60)

    async def _sent(self) -> AsyncIterator[ServerSentEvent]:
        async for event, data in self._pages.messages(self._watcher):
            yield ServerSentEvent(data.decode(), event=event)

    async def _policies(self, _: Request) -> Response:
        def listed() -> dict[str, Any]:
            return {
                setting: [{"name": entry.name, "does": entry.does} for entry in catalogue(kind)[0]]
                for setting, kind in _KINDS.items()
            }

        return JSONResponse(await run_in_threadpool(listed))

    async def _job(self, request: Request) -> Response:
        view = await self._asked(lambda: self._client.job(request.path_params["job"]))
        return Response(msgspec.json.encode(view), media_type="application/json")

    async def _log(self, request: Request) -> Response:
        rank = request.query_params.get("rank", "0")
        if not rank.isdigit() or len(rank) > 6:
            raise HTTPException(400, "rank must be a number")
        job = request.path_params["job"]
        return JSONResponse(await run_in_threadpool(log_of, self._place, job, int(rank)))

    async def _curves(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(curves_of, self._place, request.path_params["job"]))

    # -- what is changed -----------------------------------------------------------------------------

    def _changes(self, kind: type[Any], act: Callable[[Any], Any]) -> Callable[[Request], Any]:
        """A route that changes state: it needs the token, and to be asked by our own page."""

        async def answer(request: Request) -> Response:
            if why := refusal(request, self._place.token()):
                raise HTTPException(403, why)
            body = (
                await request.body() if int(request.headers.get("content-length") or 0) <= _LARGEST else b""
            )
            try:
                wanted = msgspec.json.decode(body, type=kind)
            except msgspec.DecodeError as error:
                raise HTTPException(400, f"not understood: {error}") from None
            return JSONResponse(await self._asked(lambda: act(wanted)) or {})

        return answer

    async def _asked(self, act: Callable[[], Any]) -> Any:
        """What the cluster answers; what it refuses is told in words."""
        try:
            return await run_in_threadpool(act)
        except BloxError as error:
            raise HTTPException(400, error.text()) from None

    def _submit(self, wanted: NewJob) -> dict[str, int]:
        try:
            command = shlex.split(wanted.command)
        except ValueError as error:
            raise BloxError(f"the command cannot be split into words: {error}", where="submit") from None
        fields = {
            name: getattr(wanted, name) for name in ("name", "preemption", "tenant", "priority", "expected_s")
        }
        directory = wanted.directory or None
        return {"job": self._client.submit(command, wanted.gpus, directory=directory, **fields)}

    def _cancel(self, wanted: CancelJob) -> None:
        self._client.cancel(wanted.job)

    def _set_policies(self, wanted: NewPolicies) -> None:
        self._client.set_policies(**msgspec.structs.asdict(wanted))

    def _set_node(self, wanted: NewNodeState) -> None:
        states = {"up", "draining", "down"}
        if wanted.state not in states:
            raise BloxError(f"no node can be {wanted.state!r}", where="node", fix="up, draining or down")
        self._client.set_node(wanted.node, wanted.state)  # type: ignore[arg-type]
