"""Ranks: the processes of a node, each under its guard. Starts and signals them, learns how they end."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from blox.client.page import LeasePage
from blox.cluster.launch import Home, prepared
from blox.cluster.protocol.messages import Grant, Outcome
from blox.cluster.protocol.outputs import Start
from blox.cluster.protocol.rank import LEFT, NEVER
from blox.cluster.shell.gpus import device
from blox.cluster.shell.orphans import VARIABLE, kill_orphans
from blox.cluster.shell.place import Place
from blox.errors import BloxError

_LINES = 5  # of its log, by which a job that failed is explained
_LOG_BYTES = 4 << 20
_CLOSE_S = 30.0  # for ranks to end together with their worker manager
_MOST_METRICS, _LONGEST_NAME = 100, 100  # of a job, in characters
_decode_metrics = msgspec.json.Decoder(dict[str, float]).decode
_GUARD = Path(__file__).with_name("guard.py")
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "USER", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")
Key = tuple[int, int, int]  # job, epoch, rank
Ended = Callable[[Key, Outcome, str], None]


@dataclass
class Rank:
    """A running rank: its guard, and the memory that it shares with us."""

    guard: subprocess.Popen[bytes]
    page: LeasePage
    directory: Path
    terminated: bool = False  # it was sent SIGTERM
    _metrics: tuple[int, dict[str, float]] = (-1, {})  # when the directory had changed last, and what it held

    @property
    def preempted(self) -> bool:
        """Whether it was told to leave, in whichever way."""
        return self.terminated or bool(self.page.revoked) or self.page.exit_at != NEVER

    def metrics(self) -> dict[str, float]:
        """What the rank has pushed last; read again when its directory has changed."""
        changed = self.directory.stat().st_mtime_ns
        if self._metrics[0] != changed:
            self._metrics = changed, self._read_metrics()
        return self._metrics[1]

    def _read_metrics(self) -> dict[str, float]:
        """By all collectors of the script."""
        found: dict[str, float] = {}
        for file in sorted(self.directory.glob("metrics-*.json")):
            try:
                told = _decode_metrics(file.read_bytes())
            except (OSError, msgspec.DecodeError):
                continue
            found.update(told)
        return {name[:_LONGEST_NAME]: value for name, value in list(found.items())[:_MOST_METRICS]}


class Ranks:
    """`ended` is called, from another thread, when a rank and everything that it started are gone."""

    def __init__(
        self, place: Place, node: str, ended: Ended, central: bool = False, keep_open: tuple[int, ...] = ()
    ) -> None:
        """No rank of the node lives, of whichever worker manager.

        `keep_open`: files that guards, and nothing that they start, hold open as long as they live.
        """
        self._place, self._ended, self._central = place, ended, central
        self._keep_open = keep_open
        self._directory = place.node(node)
        self._lease_file = self._directory / "lease"
        self.running: dict[Key, Rank] = {}
        for left in self._directory.glob("rank-*"):  # by a worker manager that was killed
            shutil.rmtree(left, ignore_errors=True)

    def start(self, action: Start) -> None:
        """Starts a rank under its guard; one that cannot be started has failed."""
        key = action.grant.job, action.grant.epoch, action.rank
        own = self._directory / f"rank-{key[0]}-{key[1]}-{key[2]}"
        try:
            rank = self._spawn(action, own)
        except (BloxError, OSError, ValueError) as error:
            shutil.rmtree(own, ignore_errors=True)
            self._ended(key, "failed", str(error)[:1000])
            return
        self.running[key] = rank
        threading.Thread(target=self._wait, args=(key, rank), daemon=True).start()

    def _spawn(self, action: Start, own: Path) -> Rank:
        """`own`: the directory of the rank, which goes with it."""
        job = self._place.job(action.grant.job)
        own.mkdir(parents=True, exist_ok=True)
        (job / "checkpoint").mkdir(parents=True, exist_ok=True)
        page = LeasePage.create(own / "lease", central=self._central)
        environment = self._environment(action, own, job)
        started = prepared(action.grant.spec, Home(job, own, environment))
        log = job / f"rank-{action.rank}.log"
        cleanup = json.dumps(started.cleanup)
        arguments = [str(self._lease_file), str(log), str(_LOG_BYTES), cleanup, *started.command]
        guard = subprocess.Popen(
            [sys.executable, "-S", "-E", str(_GUARD), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=started.directory,
            env=environment,
            start_new_session=True,
            pass_fds=self._keep_open,
        )
        return Rank(guard, page, own)

    def tell(self, key: Key, word: bytes) -> None:
        """`T`: pass SIGTERM on. `K`: kill."""
        rank = self.running.get(key)
        if rank is None:
            return
        rank.terminated = rank.terminated or word == b"T"
        assert rank.guard.stdin is not None
        try:
            rank.guard.stdin.write(word)
            rank.guard.stdin.flush()
        except OSError:
            return  # it has ended
        rank.guard.send_signal(signal.SIGCONT)  # it may have been stopped, and must hear this

    def forget(self, key: Key) -> None:
        """A rank that has ended; what it shared with us goes with it."""
        rank = self.running.pop(key, None)
        if rank is not None:
            shutil.rmtree(rank.directory, ignore_errors=True)

    def close(self) -> None:
        """Ends every rank, and waits until it is gone, within limits."""
        for key in list(self.running):
            self.tell(key, b"K")
        until_s = time.monotonic() + _CLOSE_S
        for key, rank in list(self.running.items()):
            with contextlib.suppress(subprocess.TimeoutExpired):
                rank.guard.wait(max(0.0, until_s - time.monotonic()))
                self.forget(key)

    def _environment(self, action: Start, own: Path, job: Path) -> dict[str, str]:
        """A clean environment: little of ours, what the user gave, and the job's own place in the world."""
        grant = action.grant
        lead = grant.addresses[0].rpartition(":")[0] or "127.0.0.1"
        return {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            **grant.spec.environment,
            "BLOX_JOB": str(grant.job),
            "BLOX_EPOCH": str(grant.epoch),
            "BLOX_LEASE": str(own / "lease"),
            VARIABLE: str(own),
            "BLOX_CHECKPOINT": str(job / "checkpoint"),
            "RANK": str(action.rank),
            "LOCAL_RANK": str(grant.ranks.index(action.rank)),
            "WORLD_SIZE": str(grant.world),
            "MASTER_ADDR": lead,
            "MASTER_PORT": str(_port(grant)),
            "CUDA_VISIBLE_DEVICES": device(action.slot),
            "PYTHONUNBUFFERED": "1",
        }

    def _wait(self, key: Key, rank: Rank) -> None:
        assert rank.guard.stdout is not None
        how, _, printed = rank.guard.stdout.read().partition(b"\n")
        rank.guard.wait()
        if how:
            number, why = how.decode().split()
            code = int(number)
        else:  # the guard was killed, and left to others what it should have ended
            code, why = -9, "lost"
            kill_orphans(rank.directory)
        self._ended(key, *outcome_of(code, why, rank.preempted, printed.decode(errors="replace")))


def outcome_of(code: int, why: str, preempted: bool, printed: str) -> tuple[Outcome, str]:
    """How a rank ended, by its exit code, what its guard says, and the last that it printed.

    The exit code of a preemption means that only where the rank was told to leave.
    """
    if why == "lost":
        return "lost", ""
    if why == "killed":
        return "killed", ""
    if code == 0:
        return "done", ""
    if preempted and code in (LEFT, -signal.SIGTERM):
        return "left", ""
    what = f"exit code {code}" if code >= 0 else f"signal {-code}"
    if code == LEFT:
        what += ", that of a preemption, which nothing had asked for"
    lines = [line[:300] for line in printed.strip().splitlines()[-_LINES:]]
    return "failed", f"{what}; its log ends:\n" + ("\n".join(lines) or "(nothing)")


def _port(grant: Grant) -> int:
    """Where the ranks of an epoch meet; another one for the next epoch, and on another cluster."""
    cluster = zlib.crc32(grant.addresses[0].encode())
    return 20_000 + (cluster + grant.job * 131 + grant.epoch * 17) % 12_000
