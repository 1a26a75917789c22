"""A real scheduler process whose nodes are played by this one: they start what they are assigned, at once."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec

from blox.cluster.api import Client
from blox.cluster.protocol.messages import Assignment, PartReport, Report
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell.place import Place
from blox.cluster.shell.wire import Peers, Server


class VirtualCluster:
    """Nodes by name; what they were assigned last, and which of it is done."""

    def __init__(self, directory: Path, nodes: int, gpus: int) -> None:
        self._place, self._nodes, self._gpus = Place(directory), nodes, gpus
        self._place.create()
        self._numbers = dict.fromkeys((f"node-{i}" for i in range(nodes)), 0)
        self._assigned: dict[str, Assignment] = {}
        self._done: set[tuple[int, int]] = set()
        self.jobs = 0

    def __enter__(self) -> VirtualCluster:
        timing = msgspec.json.encode(Timing(round_s=1.0, lease_s=60.0)).decode()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "blox.cluster.shell.scheduler_process",
                str(self._place.root),
                "--timing",
                timing,
            ],
            stdin=subprocess.PIPE,  # it ends when this closes
        )
        while not self._place.address_file.exists():
            time.sleep(0.05)
        self._place.supervisor_file.write_text(str(self._process.pid))
        self._client, self._peers = Client(self._place.root), Peers(self._place.token())
        self._server = Server("127.0.0.1:0", self._place.token(), self._deliver)
        self._ending = threading.Event()
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._client.close()
        self._process.terminate()
        self._process.wait(20)
        self._server.close()
        self._peers.close()

    def fill(self, jobs: int) -> None:
        """Submits jobs of one GPU, and waits until all GPUs are held."""
        while self.jobs < jobs:
            self.submit()
        while sum(node.used for node in self._client.nodes()) < self._nodes * self._gpus:
            time.sleep(0.5)

    def submit(self) -> int:
        self.jobs += 1
        return self._client.submit(["train"], 1, name=f"job {self.jobs}", directory="/")

    def end_one(self) -> None:
        """The work of one job is done."""
        node, assignment = next(
            (n, a) for n, a in self._assigned.items() if any(g.key not in self._done for g in a.grants)
        )
        self._done.add(next(grant.key for grant in assignment.grants if grant.key not in self._done))
        self._report(node)

    def _deliver(self, data: bytes) -> str:
        message = msgspec.msgpack.decode(data, type=Assignment)
        known = self._assigned.get(message.node)
        if known is None or known.version < message.version:
            self._assigned[message.node] = message
            if known is None or {g.key for g in known.grants} != {g.key for g in message.grants}:
                self._report(message.node)
        return ""

    def _beat(self) -> None:
        while not self._ending.wait(1.0):
            for node in self._numbers:
                self._report(node)

    def _report(self, node: str) -> None:
        self._numbers[node] += 1
        assigned = self._assigned.get(node)
        parts = tuple(self._part(grant.key) for grant in (assigned.grants if assigned else ()))
        applied = assigned.version if assigned else 0
        address = self._server.address
        report = Report(
            node, 1, self._numbers[node], applied, self._gpus, parts, identity=node, address=address
        )
        self._peers.send(self._place.address(), msgspec.msgpack.encode(report))

    def _part(self, key: tuple[int, int]) -> PartReport:
        if key in self._done:
            return PartReport(*key, False, "done", started=True)
        return PartReport(*key, True, "", started=True, iteration=self._numbers["node-0"])
