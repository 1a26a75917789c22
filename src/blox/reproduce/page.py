"""What a page of the book is: a claim of the paper, the runs that test it, a rule for the verdict.

A page is one small file: a class derived from `Page` (or from `Measurement`, where no simulation answers) and
an instance of it called `PAGE`. `blox reproduce` and the book find it by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from blox.errors import BloxError, suggestion
from blox.experiment.settings import Experiment
from blox.reproduce.answer import Cause, Finding
from blox.results.result import Result

Scale = Literal["quick", "full"]
SCALES: tuple[Scale, ...] = ("quick", "full")


@dataclass(frozen=True)
class Setting:
    """How pages are asked: `quick` in a few seconds each, `full` with the paper's own window.

    `seed` is the first of the seeds. `trace` replaces the workload of pages that replay a trace.
    """

    scale: Scale = "quick"
    seed: int = 1
    trace: str = ""

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise BloxError(
                f"no scale is called {self.scale!r}", where="scale", fix=suggestion(self.scale, SCALES)
            )
        if self.seed < 0:
            raise BloxError(f"seed is {self.seed}", where="seed", fix="a seed is a whole number, 0 or more")

    @property
    def full(self) -> bool:
        return self.scale == "full"

    def seeds(self, quick: int, full: int) -> range:
        """So many seeds, from the first on."""
        return range(self.seed, self.seed + (full if self.full else quick))


@dataclass(frozen=True)
class Case:
    """One run of a page: the line that it belongs to, and where on that line it stands."""

    line: str
    x: float
    experiment: Experiment


@dataclass(frozen=True)
class Done:
    """A case that has been run: its figures, and where its tables are."""

    case: Case
    result: Result  # without its tables
    directory: Path

    @property
    def seed(self) -> int:
        return self.case.experiment.seed

    def whole(self) -> Result:
        """The result with its tables, each read from its directory when it is first asked for."""
        return Result.open(self.directory)


class Probe(Protocol):
    """An experiment that looks for the cause of a verdict: take a quirk out, change a parameter.

    Its cases may repeat those of the page, or of other pages: every experiment is run once.
    """

    def cases(self, setting: Setting) -> list[Case]:
        """The runs."""
        ...

    def cause(self, done: Sequence[Done]) -> Cause:
        """What they say: the question, the answer in the words of the numbers, a table, pictures."""
        ...


class Page(ABC):
    """One item of the paper, answered by runs.

    `differences` are those between our set-up and the paper's, a sentence each. `claim` is one sentence.
    `rule` says in words when the claim holds, holds in part or does not; `finding` applies it.
    """

    title: ClassVar[str]
    claim: ClassVar[str]
    rule: ClassVar[str]
    differences: ClassVar[tuple[str, ...]] = ()
    probes: ClassVar[tuple[Probe, ...]] = ()
    unfinished: ClassVar[str] = "are missing from the averages"  # what becomes of jobs that did not finish

    @abstractmethod
    def setup(self, setting: Setting) -> str:
        """What is run, in a sentence or two."""

    @abstractmethod
    def cases(self, setting: Setting) -> list[Case]:
        """The runs."""

    @abstractmethod
    def finding(self, done: Sequence[Done]) -> Finding:
        """The numbers, and the verdict that follows from them by the rule and from nothing else.

        It is asked for all runs, and again for those of each seed alone.
        """


class Measurement(Page):
    """One item of the paper that is answered by measuring something else than simulations.

    What was measured is kept in `measured.json`, and is not measured again while that is there.
    """

    def cases(self, setting: Setting) -> list[Case]:
        return []

    def finding(self, done: Sequence[Done]) -> Finding:
        raise NotImplementedError("a measurement answers by judged()")

    @abstractmethod
    def measure(self, setting: Setting) -> Mapping[str, Any]:
        """Plain values, kept as JSON. Raises Unavailable where this cannot be measured here."""

    @abstractmethod
    def judged(self, measured: Mapping[str, Any]) -> Finding:
        """What was measured, and the verdict that follows by the rule."""


class Unavailable(Exception):
    """A page cannot be asked here; its text says what it needs: "a cluster: start one with `blox up`"."""
