"""A cluster on this machine: start it, and take it down again."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from blox.cluster.api import Client, absolute
from blox.cluster.central.records import Policies
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell.place import Place
from blox.errors import BloxError


def is_up(place: Place) -> int | None:
    """The process id of the supervisor that runs here; None: none does. Raises BloxError if it runs on
    another machine that has the same directory.

    It holds a lock as long as it lives: a number that it left behind may be another process's by now.
    """
    try:
        pid, _, host = place.supervisor_file.read_text(encoding="utf-8").partition(" ")
        if host and host != socket.gethostname():
            fix = f"give the command on {host}; if that machine is gone, remove {place.supervisor_file}"
            raise BloxError(f"the cluster was started on {host}", where=str(place.root), fix=fix)
        with open(place.supervisor_file, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return int(pid) if pid else None
    return None


def start(
    place: Place,
    nodes: int,
    gpus: int,
    *,
    timing: Timing,
    policies: Policies,
    central: bool = False,
    attached: bool = False,
    address: str = "127.0.0.1:0",
    patience_s: float = 120.0,
) -> Client:
    """Starts a scheduler and worker managers, and waits until all of them answer.

    `attached`: they end with this process, whatever it dies of. `address`: where the scheduler listens.
    """
    if is_up(place) is not None:
        raise BloxError(
            "a cluster is up here already",
            where=str(place.root),
            fix="`blox down`, or name another directory",
        )
    place.create()
    if nodes:
        _check_gpus(place, gpus)
    arguments = ["--nodes", str(nodes), "--gpus", str(gpus), "--address", address]
    arguments += ["--timing", msgspec.json.encode(timing).decode()]
    arguments += ["--policies", msgspec.json.encode(policies).decode(), *(["--central"] if central else [])]
    arguments += ["--attached"] if attached else []
    with open(place.root / "supervisor.log", "ab") as log:
        log_start = log.tell()
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "blox.cluster.shell.supervisor", str(place.root), *arguments],
            stdin=subprocess.PIPE if attached else subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        if _answering(supervisor, place, nodes, patience_s):
            return Client(place.root)
        raise _no_start(place, log_start)
    except BaseException:  # also an interruption: what has started is not left behind
        supervisor.terminate()
        supervisor.wait()
        raise


def _answering(supervisor: subprocess.Popen[bytes], place: Place, nodes: int, patience_s: float) -> bool:
    """Waits until so many nodes of the cluster of this supervisor have joined.

    False: it has ended, or they have not joined in time.
    """
    until_s = time.monotonic() + patience_s
    with Client(place.root) as client:
        while time.monotonic() < until_s and supervisor.poll() is None:
            try:
                own = is_up(place) == supervisor.pid  # and not another one that was started at the same time
                if own and sum(node.alive for node in client.nodes()) >= nodes:
                    return True
            except BloxError:
                pass
            time.sleep(0.1)
    return False


def _no_start(place: Place, log_start: int) -> BloxError:
    """Why a supervisor did not bring its cluster up, by what it has printed behind `log_start`."""
    printed = (place.root / "supervisor.log").read_bytes()[log_start:].decode(errors="replace").strip()
    reason = f":\n{printed}" if printed else ""
    return BloxError(
        f"the cluster did not come up{reason}",
        where=str(place.root),
        fix="" if printed else f"the logs of its nodes, in {place.logs}, say why, unless the disk is full",
    )


def _check_gpus(place: Place, gpus: int) -> None:
    """Nodes keep their number of GPUs: jobs of an earlier start may hold some."""
    before = place.gpus()
    if before not in (None, gpus):
        raise BloxError(
            f"--gpus is {gpus}, and the nodes of this cluster were started with {before}",
            where=str(place.root),
            fix=f"give --gpus {before}, name another directory, or remove this one and its jobs",
        )


@contextmanager
def local_cluster(
    nodes: int = 1,
    gpus: int = 4,
    *,
    scheduler: str = "fifo",
    admission: str = "accept-all",
    placement: str = "first-free",
    termination: str = "completed",
    timing: Timing | None = None,
    directory: str | Path | None = None,
) -> Iterator[Client]:
    """A cluster of this machine's processes, up as long as the block runs; it ends with this process.

        with local_cluster(nodes=2, gpus=2, scheduler="las") as cluster:
            job = cluster.submit(["python", "train.py"], gpus=2)
            cluster.wait(job)

    `directory`: what it keeps, and jobs that have not ended, stay there; without one it is temporary.
    """
    with nullcontext(directory) if directory else TemporaryDirectory(prefix="blox-") as root:
        place = Place.of(root)
        policies = Policies(*map(absolute, (admission, scheduler, placement, termination)))
        client = start(place, nodes, gpus, timing=timing or Timing(), policies=policies, attached=True)
        try:
            with client:
                yield client
        finally:
            stop(place)


def stop(place: Place, patience_s: float = 60.0) -> bool:
    """Ends the cluster and all its processes; jobs go on at the next start. False: none was up."""
    pid = is_up(place)
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.kill(pid, signal.SIGTERM)
    until_s = time.monotonic() + patience_s
    while is_up(place) == pid and time.monotonic() < until_s:
        with contextlib.suppress(ChildProcessError):  # it need not be a child of ours
            os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)
    if is_up(place) == pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return True
