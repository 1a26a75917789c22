"""Serves a page on this machine until it is interrupted."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from blox.errors import BloxError
from blox.extras import from_extra

if TYPE_CHECKING:
    from starlette.types import ASGIApp

DEFAULT_PORT = 8265
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def need_ui() -> None:
    """Raises BloxError where what the pages need is not installed."""
    for module in ("starlette", "uvicorn", "sse_starlette"):
        from_extra(module, "ui", "the live page")


def listen(host: str, port: int | None) -> socket.socket:
    """A socket to serve on. Without a port, the usual one, or any where that is taken."""
    for wanted in (port,) if port is not None else (DEFAULT_PORT, 0):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, wanted))
            listener.listen()  # a browser that asks before the server answers waits for it
        except OSError as error:
            listener.close()
            if wanted == DEFAULT_PORT and port is None:
                continue
            raise BloxError(
                f"cannot listen: {error.strerror or error}",
                where=f"{host}:{wanted}",
                fix="give another --port, or leave it out",
            ) from None
        return listener
    raise AssertionError("port 0 is never taken")


class Page(Protocol):
    """What is served: an application, and what ends the answers that go on while a page is open."""

    def app(self, hosts: Sequence[str]) -> ASGIApp: ...
    def end(self) -> None: ...


def server_of(page: Page, hosts: Sequence[str]) -> Any:
    """A server that, told to exit, first ends the answers that would go on for ever."""
    import uvicorn

    class Ending(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            page.end()
            await super().shutdown(sockets)

    config = uvicorn.Config(
        page.app(hosts), log_level="warning", access_log=False, timeout_graceful_shutdown=2
    )
    return Ending(config)


def serve(page: Page, hosts: Sequence[str], listener: socket.socket) -> None:
    """Answers requests until the process is interrupted or terminated."""
    with contextlib.suppress(KeyboardInterrupt):  # the usual end
        server_of(page, hosts).run(sockets=[listener])


def address_of(listener: socket.socket, host: str) -> str:
    """The address of the page."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}/"
