"""The process of a worker manager: `python -m blox.cluster.shell.worker_process DIRECTORY NODE GPUS`."""

from __future__ import annotations

import argparse
import fcntl
import mmap
import os
import signal
import struct
import sys
import time
import uuid
from pathlib import Path

import msgspec
from msgspec.structs import replace

from blox.cluster.protocol import outputs
from blox.cluster.protocol.messages import SCHEDULER, Assignment, ExitAt, ExitKnown, Outcome, Renewed, Report
from blox.cluster.protocol.outputs import Outputs
from blox.cluster.protocol.timing import Timing
from blox.cluster.protocol.worker import WorkerManager
from blox.cluster.shell.arenas import limit_arenas
from blox.cluster.shell.curves import Curves
from blox.cluster.shell.gpus import found
from blox.cluster.shell.log import open_log
from blox.cluster.shell.mailbox import Mailbox
from blox.cluster.shell.metrics import WorkerMetrics, serve
from blox.cluster.shell.orphans import kill_orphans, waking
from blox.cluster.shell.parent import call_when_parent_ends, run_to_end
from blox.cluster.shell.place import Place, write_whole
from blox.cluster.shell.ranks import Key, Ranks
from blox.cluster.shell.wire import Peers, Server
from blox.errors import BloxError

_LOOK_S = 0.05  # between two looks at the ranks' leases
_decode = msgspec.msgpack.Decoder(Assignment | ExitAt | ExitKnown | Renewed).decode
_encode = msgspec.msgpack.encode


class NodeLease:
    """When the node's lease runs out, on the monotonic clock, in memory that every guard reads."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(struct.pack("d", 0.0))
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 8)

    def extend(self, until_s: float) -> None:
        self._memory[:8] = struct.pack("d", until_s)


class Records:
    """What a worker manager has saved: a file each, which outlives its process."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(exist_ok=True)

    def all(self) -> list[bytes]:
        """In order of their names; what was being written at a kill is none."""
        return [file.read_bytes() for file in sorted(self._directory.iterdir()) if not file.suffix]

    def save(self, key: str, record: bytes | None) -> None:
        """Stores a record; None: removes it. Raises OSError where the disk is full."""
        file = self._directory / key
        if record is None:
            file.unlink(missing_ok=True)
        else:
            write_whole(file, record)


class WorkerProcess:
    """Wire, clock and processes around a WorkerManager. One thread gives it its inputs."""

    def __init__(
        self,
        place: Place,
        node: str,
        gpus: int,
        address: str,
        timing: Timing,
        central: bool,
        gpu_type: str = "gpu",
    ) -> None:
        self._place = place
        directory = place.node(node)
        directory.mkdir(parents=True, exist_ok=True)
        # Guards inherit the lock: it is ours when the last process of a predecessor has ended.
        self._lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for another worker manager of {node} and its jobs to end", file=sys.stderr)
            with waking(directory):  # a guard that was stopped ends nothing
                fcntl.flock(self._lock, fcntl.LOCK_EX)
        kill_orphans(directory)
        self._lease = NodeLease(directory / "lease")
        self._mailbox = Mailbox()
        self._ranks = Ranks(place, node, self._rank_ended, central, keep_open=(self._lock,))
        self._curves = Curves(place)
        self._log = open_log(place.logs, node)
        self._peers = Peers(place.token(), self._refused)
        self._server = Server(address, place.token(), self._deliver)
        identity = Report(
            node,
            _next_incarnation(directory),
            0,
            0,
            gpus,
            (),
            identity=_identity(directory),
            address=self._server.address,
            gpu_type=gpu_type,
            cpu=float(os.cpu_count() or 0),
        )
        self._records = Records(directory / "ended")
        self._worker = WorkerManager(identity, timing, time.monotonic(), self._records.all())
        self._addresses: dict[str, str] = {}  # of other nodes, as grants tell them
        self._look_s = 0.0
        self._metrics = WorkerMetrics(
            lambda: self._worker.lease_until_s - time.monotonic(), lambda: len(self._ranks.running)
        )
        self._end_metrics = serve(self._metrics.registry, place.metrics, node)
        self._log("started", incarnation=self._worker.incarnation, address=self._server.address)

    def run(self) -> None:
        self._mailbox.run(self._next_s, self._tick, lambda: None)
        self._server.close()
        self._ranks.close()
        self._end_metrics()
        self._peers.close()
        self._log("ended")

    @property
    def address(self) -> str:
        return self._server.address

    def close(self) -> None:
        self._mailbox.close()

    def _next_s(self) -> float:
        return min(self._worker.wake_s, self._look_s) if self._ranks.running else self._worker.wake_s

    def _tick(self) -> None:
        self._look_at_leases()
        if time.monotonic() >= self._worker.wake_s:
            self._carry_out(self._worker.tick(time.monotonic()))

    def _look_at_leases(self) -> None:
        """What the leads have written into their leases since the last look."""
        self._look_s = time.monotonic() + _LOOK_S
        for (job, epoch, number), rank in list(self._ranks.running.items()):
            if number:
                continue
            page, key = rank.page, (job, epoch)
            metrics = rank.metrics()
            self._curves.note(job, page.iteration, metrics)
            self._worker.progressed(key, page.iteration, page.checkpoint, metrics)
            part = self._worker.parts.get(key)
            if page.proposed >= 0 and part is not None and part.exit_at is None:
                self._carry_out(self._worker.proposed(key, page.proposed, time.monotonic()))
            if page.asked > page.allowed and part is not None and part.asked != page.asked:
                self._carry_out(self._worker.asked(key, page.asked, time.monotonic()))

    def _deliver(self, data: bytes) -> str:
        """From the scheduler or another node, on a thread of the server."""
        message = _decode(data)

        def act() -> None:
            if isinstance(message, Assignment):
                for grant in message.grants:
                    self._addresses.update(zip(grant.nodes, grant.addresses))
            self._carry_out(self._worker.receive(message, time.monotonic()))

        return "" if self._mailbox.offer(act) else "the worker manager has too much to do"

    def _refused(self, address: str, why: str) -> None:
        """From a thread of the wire: a peer refused a message of ours."""
        self._log("refused", by=address, what=why)
        self._metrics.refused.inc()

    def _rank_ended(self, key: Key, outcome: Outcome, detail: str) -> None:
        """From the thread that waits for a rank."""

        def act() -> None:
            self._look_at_leases()
            self._ranks.forget(key)
            self._curves.forget(key[0])
            self._log("ended rank", job=key[0], epoch=key[1], rank=key[2], outcome=outcome, detail=detail)
            self._metrics.ends.labels(outcome).inc()
            self._carry_out(self._worker.ended(key[:2], key[2], outcome, time.monotonic(), detail))

        self._mailbox.post(act)

    def _carry_out(self, out: Outputs) -> None:
        for key, record in out.saves:
            try:
                self._records.save(key, record)
            except OSError as error:  # it is told all the same, and lost only if we are killed before that
                self._log("cannot be stored", record=key, what=str(error))
        for address, message in out.sends:
            try:
                found = self._place.address() if address == SCHEDULER else self._addresses.get(address, "")
            except BloxError:
                continue  # the scheduler has not started yet
            if found:
                if isinstance(message, Report):
                    message = replace(message, wall_s=time.time())
                self._peers.send(found, _encode(message))
        for action in out.actions:
            self._act(action)

    def _act(self, action: outputs.Action) -> None:
        if isinstance(action, outputs.ExtendLease):
            self._lease.extend(action.until_s)
            return
        if isinstance(action, outputs.Start):
            grant = action.grant
            self._note("start", grant.job, grant.epoch, action.rank)
            self._ranks.start(action)
            return
        key = action.job, action.epoch, action.rank
        if not isinstance(action, outputs.Allow):  # which comes in every iteration
            self._note(type(action).__name__.lower(), *key)
        rank = self._ranks.running.get(key)
        if rank is None:
            return
        if isinstance(action, outputs.Kill):
            self._ranks.tell(key, b"K")
        elif isinstance(action, outputs.Terminate):
            self._ranks.tell(key, b"T")
        elif isinstance(action, outputs.Revoke):
            rank.page.revoked = True
        elif isinstance(action, outputs.FixExit):
            rank.page.exit_at = action.iteration
        else:
            rank.page.allowed = action.iteration

    def _note(self, action: str, job: int, epoch: int, rank: int) -> None:
        self._log(action, job=job, epoch=epoch, rank=rank)
        self._metrics.actions.labels(action).inc()


def _next_incarnation(directory: Path) -> int:
    """One more than the last time; the lock is held."""
    file = directory / "incarnation"
    number = int(file.read_text(encoding="utf-8")) + 1 if file.exists() else 1
    write_whole(file, str(number))
    return number


def _identity(directory: Path) -> str:
    """Of this machine's directory for the node, so that no other takes its name."""
    file = directory / "identity"
    if not file.exists():
        write_whole(file, uuid.uuid4().hex)
    return file.read_text(encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("node")
    parser.add_argument("gpus", type=int)
    parser.add_argument("--address", default="127.0.0.1:0")
    parser.add_argument("--timing", default="{}")
    parser.add_argument("--central", action="store_true")
    options = parser.parse_args()
    limit_arenas()
    try:
        timing = msgspec.json.decode(options.timing, type=Timing)
        place = Place.of(options.directory)
        process = WorkerProcess(
            place, options.node, options.gpus, options.address, timing, options.central, found().kind
        )
    except BloxError as error:
        sys.exit(error.text())
    signal.signal(signal.SIGTERM, lambda *_: process.close())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    call_when_parent_ends(process.close)
    run_to_end(process.run)


def run_until_told(process: WorkerProcess) -> None:
    """Runs a worker manager until this process is interrupted or told to end."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: process.close())
    process.run()


if __name__ == "__main__":
    main()
