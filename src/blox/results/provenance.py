"""Which bytes a run was made from: checksums of the files behind its settings, kept with its results.

`workload_sha256` is that of the trace's bytes, or of the jobs that a generator gave. A setting that names a
file (a policy in Python, a cluster in TOML, a table of speeds) has `<setting>_file_sha256`. Other files that
the run has imported or read, such as a module beside a policy, are in `read_files`, each with its checksum.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blox.errors import BloxError
from blox.files_read import changed_since
from blox.optional import declared
from blox.version import VERSION
from blox.workloads.table import Workload

_CHANGED = "bring the file back, or give --ignore-checksum to run on what is there now"
_NOT_SPECS = ("window", "label", "compat")
_MARKS = re.compile(r"[:,=?&]")
_MARKS_OF_AUTO = re.compile(r"[:,=?&;+]")  # clauses, and objectives joined with a plus


def provenance(settings: Mapping[str, Any], workload: Workload, drawn: str = "") -> dict[str, str]:
    """Version and checksums; `drawn` is the fingerprint of a generator's jobs, known once it has run."""
    found = {"blox_version": VERSION}
    checksum: str = declared(workload, "checksum")
    if checksum or drawn:
        found["workload_sha256"] = checksum or drawn
    for name, spec in settings.items():
        if name in _NOT_SPECS or not isinstance(spec, str) or (name == "workload" and checksum):
            continue
        if files := files_in(spec, _marks(name)):
            found[f"{name}_file_sha256"] = _digest(files)
    return found


def files_in(spec: str, marks: re.Pattern[str] = _MARKS) -> list[Path]:
    """The files that a spec names, such as `./mine.py` of `./mine.py:Mine`."""
    pieces = [piece.strip() for piece in marks.split(spec)]
    return [Path(piece) for piece in pieces if "." in piece and Path(piece).is_file()]


def _marks(setting: str) -> re.Pattern[str]:
    return _MARKS_OF_AUTO if setting == "auto" else _MARKS


def named_files(settings: Mapping[str, Any]) -> list[Path]:
    """The files that the settings name, which have checksums of their own."""
    texts = {
        name: spec for name, spec in settings.items() if name not in _NOT_SPECS and isinstance(spec, str)
    }
    return [file for name, spec in texts.items() for file in files_in(spec, _marks(name))]


def check_unchanged(recorded: Any, settings: Mapping[str, Any], workload: Workload, *, where: str) -> None:
    """Refuses to run an experiment anew on files that are not the ones it was run on."""
    if not isinstance(recorded, Mapping):
        return
    for name in changed_since(recorded.get("read_files")):
        raise BloxError(
            f"{name} has changed since this experiment was run, which has read it",
            where=where,
            fix=_CHANGED,
        )
    now = provenance(settings, workload)
    for key, checksum in now.items():
        if key.endswith("_sha256") and recorded.get(key, checksum) != checksum:
            name = setting_of(key)
            raise BloxError(
                f"the file behind {name} = {settings.get(name)!r} has changed since this experiment was run",
                where=where,
                fix=_CHANGED,
            )


def setting_of(key: str) -> str:
    """The setting that a checksum belongs to."""
    return key.removesuffix("_sha256").removesuffix("_file")


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()
