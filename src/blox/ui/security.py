"""What protects the pages: a strict content security policy, known host names, the token, same origin.

A server on loopback can be reached by every page that its user opens elsewhere, and by other users of the
machine. So requests under a foreign host name are refused (no name of another site can be pointed here), and
those that change state need the cluster's token and must come from our own page.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The hash is that of an empty style element, which plotly fills by rules afterwards.
_EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    f"style-src 'self' {_EMPTY_STYLE}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Protected:
    """Refuses requests under host names that are not ours, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        """`hosts`: the names under which the server may be asked, without ports."""
        self._app, self._hosts = app, {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-cache")
            await send(message)

        host = urlsplit(f"//{Headers(scope=scope).get('host', '')}").hostname or ""
        if host.lower() in self._hosts:
            await self._app(scope, receive, send_with_headers)
        else:
            answer = PlainTextResponse("unknown host name", status_code=421)
            await answer(scope, receive, send_with_headers)


def refusal(request: Request, token: str) -> str:
    """Why a request that changes state is refused; "" where it may pass."""
    headers = request.headers
    if headers.get("origin") != f"{request.url.scheme}://{headers.get('host', '')}":
        return "the request does not come from this page"
    given = headers.get("authorization", "").removeprefix("Bearer ").strip()
    if not hmac.compare_digest(given.encode(), token.encode()):
        return "the token is missing or wrong: give the cluster's token to unlock the controls"
    return ""
