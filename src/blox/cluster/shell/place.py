"""Place: the directory of a cluster on this machine: token, addresses, journal, nodes and jobs."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from blox.cluster.protocol.timing import Timing
from blox.errors import BloxError

VARIABLE = "BLOX_CLUSTER"  # names the directory where no option does


class Settings(msgspec.Struct, frozen=True):
    """What scheduler and worker managers must agree on, such as how long a lease lasts."""

    timing: Timing
    central: bool = False


@dataclass(frozen=True)
class Place:
    """Readable by its owner only."""

    root: Path

    @classmethod
    def of(cls, directory: str | Path | None = None) -> Place:
        """The directory that is named, or that of the environment, or `~/.blox/cluster`."""
        named = directory or os.environ.get(VARIABLE) or Path.home() / ".blox" / "cluster"
        return cls(Path(named).expanduser().absolute())

    @property
    def journal(self) -> Path:
        return self.root / "journal.sqlite"

    @property
    def address_file(self) -> Path:
        return self.root / "scheduler.address"

    @property
    def supervisor_file(self) -> Path:
        return self.root / "supervisor.pid"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def metrics(self) -> Path:
        return self.root / "metrics"

    def node(self, name: str) -> Path:
        return self.root / "nodes" / name

    def job(self, job: int) -> Path:
        return self.root / "jobs" / str(job)

    def create(self) -> None:
        """Makes the directory and its token, where they are not there yet."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.root.chmod(0o700)
        token = self.root / "token"
        if not token.exists():
            own = token.with_name(f"token.{os.getpid()}")
            handle = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.close(handle)
            try:
                with _naming(token):
                    own.write_text(secrets.token_hex(32), encoding="utf-8")
                with contextlib.suppress(FileExistsError):  # another process has made one meanwhile
                    os.link(own, token)
            finally:
                own.unlink()

    def settings(self) -> Settings:
        """What scheduler and nodes must agree on, as the scheduler was started."""
        return msgspec.json.decode(self._read(self.root / "settings.json"), type=Settings)

    def keep_settings(self, settings: Settings) -> None:
        write_whole(self.root / "settings.json", msgspec.json.encode(settings).decode())

    def gpus(self) -> int | None:
        """Slots of each node that `blox up` starts here; None: it has started none yet."""
        file = self.root / "gpus"
        return int(file.read_text(encoding="utf-8")) if file.exists() else None

    def keep_gpus(self, gpus: int) -> None:
        write_whole(self.root / "gpus", str(gpus))

    @staticmethod
    def listening(address: str) -> str:
        """HOST[:PORT] as an address to listen at; port 0: any that is free."""
        host, colon, port = address.partition(":")
        if host in ("", "0.0.0.0") or (colon and not (port.isdecimal() and int(port) < 65536)):
            raise BloxError(
                f"{address!r} is no address that others could reach",
                where="--listen",
                fix="name this machine as the others know it: 10.0.0.1, or 10.0.0.1:7070",
            )
        return f"{host}:{port or 0}"

    def token(self) -> str:
        return self._read(self.root / "token")

    def address(self) -> str:
        """Of the scheduler."""
        return self._read(self.address_file)

    def _read(self, file: Path) -> str:
        try:
            return file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            raise BloxError(
                "no cluster is up here",
                where=str(self.root),
                fix="start one with `blox up`, or name another directory",
            ) from None


def write_whole(file: Path, content: str | bytes) -> None:
    """Replaces a file at once: a reader sees the old content or the new one.

    What cannot be written, on a full disk, leaves nothing behind.
    """
    half = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        with _naming(file):
            half.write_bytes(content.encode() if isinstance(content, str) else content)
            half.replace(file)
    except OSError:
        half.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _naming(file: Path) -> Iterator[None]:
    """An OSError of a write does not say what was written, as that of an open does."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(file)
        raise
