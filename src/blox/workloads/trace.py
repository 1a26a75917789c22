"""Trace: a workload that is read from a file, once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from blox.foreign import watched_part
from blox.optional import declared
from blox.registry import name_of, parameters
from blox.workloads.drawn import at_least_one_job
from blox.workloads.table import JobTable
from blox.workloads.text_files import user_path


class Reader(Protocol):
    """What a registered reader offers: a path, and the jobs at it."""

    @property
    def path(self) -> str: ...

    def read(self) -> JobTable:
        """The jobs. Raises BloxError naming file and line."""
        ...


@dataclass(frozen=True)
class Trace:
    """The jobs that a reader finds in its file: one batch, then the end. Nothing in it is random."""

    reader: Reader

    @cached_property
    def table(self) -> JobTable:
        """The jobs, read when first asked for. Raises BloxError where there are none."""
        return at_least_one_job(watched_part(self.reader).read())

    @cached_property
    def checksum(self) -> str:
        """SHA-256, in hex, of the file's bytes; of several files, of their bytes one after another."""
        digest = hashlib.sha256()
        for file in self.files():
            digest.update(file.read_bytes())
        return digest.hexdigest()

    @property
    def default_performance(self) -> str:
        """The speeds of resizable jobs follow what they get, under every scheduler; others the reader's."""
        return "goodput" if self.table.resizable.any() else str(declared(self.reader, "default_performance"))

    @property
    def spec(self) -> str:
        """The shortest spec that reads the same jobs: `format:path?key=value&...`."""
        changed = [
            f"{name}={_text(getattr(self.reader, name))}"
            for name, parameter in parameters(type(self.reader)).items()
            if name != "path" and getattr(self.reader, name) != parameter.default
        ]
        return f"{name_of(type(self.reader))}:{self.reader.path}{'?' + '&'.join(changed) if changed else ''}"

    def files(self) -> list[Path]:
        """The files that the jobs come from."""
        listed = declared(self.reader, "files")
        return list(listed()) if listed else [user_path(self.reader.path)]

    def batches(self, rng: np.random.Generator) -> Iterator[JobTable]:
        """Yields the one table; `rng` is not used."""
        yield self.table


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return repr(value) if isinstance(value, float) else str(value)
