"""Serves a page on this machine until it is interrupted."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable

from blox.errors import BloxError

DEFAULT_PORT = 8265
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def need_ui() -> None:
    """Raises BloxError where what the pages need is not installed."""
    try:
        import sse_starlette  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise BloxError(
            "the pages need starlette, uvicorn and sse-starlette, which are not installed",
            fix="pip install 'blox[ui]'",
        ) from None


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


def serve(app: Callable[..., object], listener: socket.socket) -> None:
    """Answers requests until the process is interrupted or terminated."""
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    with contextlib.suppress(KeyboardInterrupt):  # the usual end
        uvicorn.Server(config).run(sockets=[listener])


def address_of(listener: socket.socket, host: str) -> str:
    """The address of the page."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listener.getsockname()[1]}/"
