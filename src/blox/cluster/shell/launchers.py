"""How jobs are started (Table 5 of the paper): a command line, a zip file of code, a container."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

from blox.cluster.protocol.messages import JobSpec, Launch
from blox.errors import BloxError

Prepared = tuple[list[str], Path]  # the command, and the directory that it is started in


def command_line(spec: JobSpec, job: Path) -> Prepared:
    """The command as it is, without a shell, in the directory that was named, or in the job's own."""
    return list(spec.command), Path(spec.directory) if spec.directory else job


def zip_file(spec: JobSpec, job: Path) -> Prepared:
    """`directory` is a zip file: it is unpacked in the job's directory, where the command starts."""
    code = job / "code"
    if not code.exists():
        half = job / f"code.{id(spec)}"
        with zipfile.ZipFile(spec.directory) as archive:
            for name in archive.namelist():
                if not (half / name).resolve().is_relative_to(half.resolve()):
                    fix = "pack relative paths only"
                    raise BloxError(f"{name!r} points out of the archive", where=spec.directory, fix=fix)
            archive.extractall(half)
        try:
            half.rename(code)
        except OSError:
            shutil.rmtree(half)  # another rank was faster
    return list(spec.command), code


def container(spec: JobSpec, job: Path) -> Prepared:
    """The first word of the command is an image; docker or podman runs the rest in it."""
    engine = next((found for name in ("docker", "podman") if (found := shutil.which(name))), None)
    if engine is None:
        fix = "install one on every node, or submit a command line"
        raise BloxError("neither docker nor podman is here", where="launch container", fix=fix)
    return [engine, "run", "--rm", "--init", "-v", f"{job}:{job}", *spec.command], job


LAUNCHERS: dict[Launch, Callable[[JobSpec, Path], Prepared]] = {
    "command": command_line,
    "zip": zip_file,
    "container": container,
}


def prepare(spec: JobSpec, job: Path) -> Prepared:
    """What is to be started, where. Raises BloxError or OSError where that cannot be."""
    return LAUNCHERS[spec.launch](spec, job)
