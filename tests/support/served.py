"""Pages served on a free port of this machine for as long as a test asks them."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass

from blox.ui.server import listen, server_of


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self):
        return self.content.decode()

    def json(self):
        return json.loads(self.content)


@dataclass(frozen=True)
class Address:
    """Where a server is; asks it, each time over a connection of its own."""

    port: int

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    def get(self, path, headers=None):
        return self.send("GET", path, headers=headers)

    def send(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        found = Answer(
            answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        )
        connection.close()
        return found


@contextmanager
def served(page, port=0):
    """Serves a page; yields its address."""
    listener = listen("127.0.0.1", port)
    server = server_of(page, ["127.0.0.1"])
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield Address(listener.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(300)
