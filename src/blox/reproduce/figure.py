"""What a figure of the paper is to us: a claim, the runs that put it to the test, a rule for the verdict."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from blox.errors import BloxError, suggestion
from blox.experiment.settings import Experiment
from blox.report.chart import Chart
from blox.results.result import Result

Scale = Literal["quick", "full"]
SCALES: tuple[Scale, ...] = ("quick", "full")


@dataclass(frozen=True)
class Setting:
    """How a figure is to be asked: `quick` in well under a minute, `full` with the paper's own window.

    `seed` is the first of the seeds. `trace` replaces the workload of figures that replay a trace.
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
    """One run of a figure: the line that it belongs to, and where on that line it stands."""

    line: str
    x: float
    experiment: Experiment


@dataclass(frozen=True)
class Done:
    """A case that has been run: its figures, and where its tables are."""

    case: Case
    result: Result  # without its tables
    directory: Path


@dataclass(frozen=True)
class Verdict:
    """Whether the claim holds, and why, in the words of the numbers."""

    word: Literal["holds", "holds in part", "does not hold"]
    reason: str


@dataclass(frozen=True)
class Finding:
    """What came out: a table of texts under heads, a chart, the verdict, and what else is to be said."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    chart: Chart
    verdict: Verdict
    notes: Sequence[str] = ()


class Figure(Protocol):
    """One figure of the paper. Its instance `FIGURE` stands in the module that is called like it."""

    @property
    def title(self) -> str:
        """A few words: what is compared."""
        ...

    @property
    def claim(self) -> str:
        """What the paper says about it, in one sentence."""
        ...

    @property
    def rule(self) -> str:
        """When the claim holds, holds in part or does not, in words."""
        ...

    def setup(self, setting: Setting) -> str:
        """What is run, in a sentence, and where that differs from the paper."""
        ...

    def cases(self, setting: Setting) -> list[Case]:
        """The runs."""
        ...

    def finding(self, done: Sequence[Done]) -> Finding:
        """The numbers and the verdict that follows from them by the rule, and from nothing else."""
        ...


def figures() -> dict[str, Figure]:
    """Every figure there is, by name, in the order of the paper."""
    found = {}
    package = importlib.import_module("blox.reproduce")
    for module in pkgutil.iter_modules(package.__path__):
        if (figure := _figure_in(module.name)) is not None:
            found[module.name] = figure
    return dict(sorted(found.items(), key=lambda item: (_number(item[0]), item[0])))


def figure_called(name: str) -> Figure:
    """The figure of that name; the valid ones are told if there is none."""
    known = figures()
    if name not in known:
        raise BloxError(
            f"no figure is called {name!r}", where="blox reproduce", fix=suggestion(name, [*known, "all"])
        )
    return known[name]


def _figure_in(module: str) -> Figure | None:
    found: Figure | None = getattr(importlib.import_module(f"blox.reproduce.{module}"), "FIGURE", None)
    return found


def _number(name: str) -> float:
    """Figures by their number; what has none comes last."""
    match = re.search(r"\d+", name)
    return float(match[0]) if match else float("inf")
