"""Pages: the browsers that are open, each with the messages that it has not been sent yet."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from blox.ui.live.state import Message
from blox.ui.live.watcher import Watcher

MOST = 100  # pages at once
_BEHIND = 200  # messages that a page may lack before it is sent everything anew
_TICK_S = 2.0  # a page that hears nothing for longer knows that it is out of contact

TICK: Message = "tick", b"{}"


class Pages:
    """Hands messages of the watcher's thread on to every page, in the thread of the server."""

    def __init__(self) -> None:
        self._open: set[asyncio.Queue[Message | None]] = set()
        self._ended = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        return len(self._open)

    def begin(self) -> None:
        self._loop = asyncio.get_running_loop()

    def end(self) -> None:
        """The server ends: so does what every page is sent."""
        self._ended = True
        for queue in self._open:
            queue.put_nowait(TICK)

    def tell(self, message: Message) -> None:
        """From any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the server has ended
                self._loop.call_soon_threadsafe(self._spread, message)

    def _spread(self, message: Message) -> None:
        for queue in self._open:
            if queue.qsize() >= _BEHIND:
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(None)
            queue.put_nowait(message)

    async def messages(self, watcher: Watcher) -> AsyncIterator[Message]:
        """What one page is sent, from everything on; ends when the page is closed."""
        queue: asyncio.Queue[Message | None] = asyncio.Queue()
        self._open.add(queue)
        watcher.watched.set()
        try:
            yield "state", snapshot(watcher)
            while not self._ended:
                try:
                    message = await asyncio.wait_for(queue.get(), _TICK_S)
                except TimeoutError:
                    message = TICK
                # None: it was too far behind.
                yield ("state", snapshot(watcher)) if message is None else message
        finally:
            self._open.discard(queue)
            if not self._open:
                watcher.watched.clear()


def snapshot(watcher: Watcher) -> bytes:
    with watcher.lock:
        return watcher.state.snapshot()
