"""How the processes of a job are started (Table 5 of the paper), one mechanism per file.

`prepared(spec, home)` gives the command that a guard starts. A mechanism is a registered part:

    @register.launch("name")
    @dataclass(frozen=True)
    class Mine:
        def prepare(self, spec: JobSpec, home: Home) -> Prepared: ...
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from blox import registry
from blox.cluster.protocol.messages import JobSpec


@dataclass(frozen=True)
class Home:
    """Where a rank lives on its node: the directory of its job, its own, and its environment."""

    job: Path
    own: Path
    environment: dict[str, str]


@dataclass(frozen=True)
class Prepared:
    """`cleanup` is carried out when the command was killed: it ends what the command's death does not."""

    command: list[str]
    directory: Path
    cleanup: tuple[str, ...] = ()


class Launch(Protocol):
    """A launch mechanism. Raises BloxError or OSError for what cannot be started here."""

    def prepare(self, spec: JobSpec, home: Home) -> Prepared: ...


def prepared(spec: JobSpec, home: Home) -> Prepared:
    """What is to be started, where, by the mechanism that the job names."""
    mechanism: Launch = registry.build("launch", spec.launch)
    return mechanism.prepare(spec, home)
