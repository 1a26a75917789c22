"""The server of the film: which runs there are, the columns of each, its queue and stories on request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from blox.explain import Explanation, story_of
from blox.report import colours
from blox.report.labels import labels
from blox.ui import assets
from blox.ui.columns import MEDIA_TYPE
from blox.ui.film.film import film_of
from blox.ui.film.order import Order
from blox.ui.film.queue import queue_at
from blox.ui.film.runs import Filmed
from blox.ui.security import Protected

_MOST_LISTED = 2000  # waiting jobs in one answer


class _Run:
    """A run and what is worked out of it once."""

    def __init__(self, filmed: Filmed, label: str) -> None:
        self.filmed, self.label, self.order = filmed, label, Order(filmed)

    @cached_property
    def film(self) -> bytes:
        return film_of(self.filmed.result, self.label, self.filmed.note)

    @cached_property
    def explanation(self) -> Explanation:
        return Explanation(self.filmed.result)


class FilmServer:
    """Answers what `static/film/` asks."""

    def __init__(self, runs: Sequence[Filmed]) -> None:
        names = labels([each.result for each in runs])
        self._runs = [_Run(filmed, name) for filmed, name in zip(runs, names)]

    def app(self, hosts: Sequence[str]) -> ASGIApp:
        routes = [
            assets.page("film.html"),
            Route("/film.json", self._list),
            Route("/film/{run:int}", self._film),
            Route("/film/{run:int}/queue", self._queue),
            Route("/film/{run:int}/story/{job:int}", self._story),
            *assets.routes(),
        ]
        return Protected(Starlette(routes=routes), hosts)

    def end(self) -> None:
        """Ends what goes on in the background."""
        for run in self._runs:
            run.order.close()

    async def _list(self, _: Request) -> Response:
        told = [{"label": run.label, "colour": colours.of_run(at)} for at, run in enumerate(self._runs)]
        return JSONResponse({"runs": told, "causes": colours.CAUSES})

    async def _film(self, request: Request) -> Response:
        run = self._run(request)
        return Response(await run_in_threadpool(lambda: run.film), media_type=MEDIA_TYPE)

    async def _queue(self, request: Request) -> Response:
        run, most = self._run(request), _number(request, "most", _MOST_LISTED)
        return JSONResponse(
            queue_at(run.filmed.result, run.order, _number(request, "at"), min(int(most), _MOST_LISTED))
        )

    async def _story(self, request: Request) -> Response:
        run, job = self._run(request), int(request.path_params["job"])
        if not 0 <= job < len(run.filmed.result.jobs["job_id"]):
            raise HTTPException(404, "no such job")
        return JSONResponse(await run_in_threadpool(story_of, run.explanation, job))

    def _run(self, request: Request) -> _Run:
        number = int(request.path_params["run"])
        if not 0 <= number < len(self._runs):
            raise HTTPException(404, "no such run")
        return self._runs[number]


def _number(request: Request, name: str, default: Any = None) -> float:
    """A number of the query; 400 where it is none."""
    try:
        value = float(request.query_params.get(name, default))
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise HTTPException(400, f"{name} must be a number")
    return value
