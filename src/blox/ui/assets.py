"""What pages load: our own files in `static/`, the report's style tokens, plotly's script from its package.

Nothing comes from the network, and nothing of another project is kept here.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from blox.report.style import TOKENS

STATIC = Path(__file__).parent / "static"
_STYLE_ID = re.compile(r'getElementById\("([0-9a-f]{64})"\)')


@cache
def _plotly() -> tuple[str, list[str]]:
    """Plotly's script, and the ids of style elements that parts of it add unless such an element is there.

    The policy of our pages forbids styles in the page: elements of these ids keep the script from trying.
    """
    from plotly.offline import get_plotlyjs

    script = get_plotlyjs()
    return script, _STYLE_ID.findall(script)


async def _script(_: Request) -> Response:
    return Response(_plotly()[0], media_type="text/javascript", headers={"cache-control": "max-age=3600"})


async def _style_ids(_: Request) -> Response:
    return JSONResponse(_plotly()[1])


async def _tokens(_: Request) -> Response:
    return Response(TOKENS, media_type="text/css")


def page(name: str) -> Route:
    """The page that a server opens with."""

    async def show(_: Request) -> Response:
        return FileResponse(STATIC / name, media_type="text/html")

    return Route("/", show)


def routes() -> list[BaseRoute]:
    """Everything that pages load."""
    return [
        Route("/plotly.js", _script),
        Route("/plotly-styles.json", _style_ids),
        Route("/tokens.css", _tokens),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
