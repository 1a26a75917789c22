"""Launch by a command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from blox.cluster.launch import Home, Prepared
from blox.cluster.protocol.messages import JobSpec
from blox.registry import register


@register.launch("command")
@dataclass(frozen=True)
class CommandLine:
    """The command as it is, without a shell, in the directory that was named, or in the job's own."""

    def prepare(self, spec: JobSpec, home: Home) -> Prepared:
        return Prepared(list(spec.command), Path(spec.directory) if spec.directory else home.job)
