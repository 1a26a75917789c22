"""Launch from a zip file of code."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from blox.cluster.launch import Home, Prepared
from blox.cluster.protocol.messages import JobSpec
from blox.errors import BloxError
from blox.registry import register

_LARGEST = 1 << 30  # bytes that a zip file may unpack to


@register.launch("zip")
@dataclass(frozen=True)
class ZipFile:
    """The job's directory is a zip file: it is unpacked once per job, and the command starts in it."""

    def prepare(self, spec: JobSpec, home: Home) -> Prepared:
        code = home.job / "code"
        if not code.exists():
            half = home.job / f"code.{home.own.name}"
            try:
                _unpack(spec.directory, half)
                half.rename(code)
            except OSError:
                if not code.exists():
                    raise
            finally:
                shutil.rmtree(half, ignore_errors=True)  # another rank was faster, or it failed
        return Prepared(list(spec.command), code)


def _unpack(file: str, into: Path) -> None:
    """Raises BloxError for a file that is no zip file, too large, or points out of the directory."""
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _LARGEST:
                fix = "leave data out: name a path to it in the command"
                raise BloxError(f"it unpacks to more than {_LARGEST >> 20} MB", where=file, fix=fix)
            for name in archive.namelist():
                if not (into / name).resolve().is_relative_to(into.resolve()):
                    fix = "pack relative paths only"
                    raise BloxError(f"{name!r} points out of the archive", where=file, fix=fix)
            archive.extractall(into)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        fix = "give a zip file without a password as --directory"
        raise BloxError(f"it cannot be unpacked: {error}", where=file, fix=fix) from error
