"""Comparison: runs side by side, with the intervals of their figures and of the differences between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeVar, overload

from blox.errors import BloxError, suggestion
from blox.results.flat import flat
from blox.results.samples import Basis, Figures, Sample, number, sample_of
from blox.results.statistics import LEVEL, Interval

R = TypeVar("R", bound=Figures, covariant=True)


class Comparison(Sequence[R]):
    """A sequence of runs that knows how sure their figures are, and which differences are distinguishable."""

    def __init__(self, runs: Sequence[R], samples: Sequence[Sample] | None = None) -> None:
        """`samples`: what tells how sure each run is, where that is not its own seeds or days."""
        self._runs = tuple(runs)
        self._samples = [sample_of(run) for run in self._runs] if samples is None else list(samples)

    @classmethod
    def of(cls, runs: Sequence[R]) -> Comparison[R]:
        """The runs as a comparison; one that is a comparison keeps what it has worked out."""
        return runs if isinstance(runs, Comparison) else cls(runs)

    def subset(self, positions: Sequence[int]) -> Comparison[R]:
        """Some of the runs, compared among themselves; what is worked out stays shared."""
        return Comparison([self._runs[at] for at in positions], [self._samples[at] for at in positions])

    @overload
    def __getitem__(self, at: int) -> R: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[R]: ...
    def __getitem__(self, at: int | slice) -> R | Sequence[R]:
        return self._runs[at]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[R]:
        return iter(self._runs)

    def basis_of(self, position: int) -> Basis:
        """What the intervals of one run are made from."""
        return self._samples[position].basis

    @cached_property
    def comparable(self) -> list[int]:
        """The positions of the runs that can be ranked: over the same jobs, as far as seeds draw them.

        A run that lacks a seed which another has, because it failed or was not asked for, is left out: its
        means are over other jobs.
        """
        drawn = [sample.basis.drawn for sample in self._samples]
        every = frozenset[int]().union(*drawn)
        return [position for position, own in enumerate(drawn) if own >= every]

    @cached_property
    def basis(self) -> Basis:
        """What the intervals are made from: the least that a comparable run has; nothing where none is."""
        found = [self._samples[position].basis for position in self.comparable]
        if not found:
            return Basis()
        return Basis(found[0].seeds, min(basis.days for basis in found), found[0].drawn)

    def interval(self, position: int, figure: str) -> Interval | None:
        """A figure of one run with its 95 % interval; None where there is none."""
        return self._samples[position].interval(figure)

    def difference(self, position: int, other: int, figure: str, level: float = LEVEL) -> Interval | None:
        """How much larger a figure is in one run than in another; None where that cannot be told."""
        return self._samples[position].difference(self._samples[other], figure, level)

    def ratio(self, position: int, other: int, figure: str) -> Interval | None:
        """A figure of one run over that of another; None where that cannot be told."""
        return self._samples[position].ratio(self._samples[other], figure)

    def against_best(self, figure: str, better: str) -> dict[int, Interval | None]:
        """The best run by a figure (None), and then how each other differs from it, in order of position.

        The intervals hold together with 95 %: each of k has the level 1 - 0.05 / k (Bonferroni). Runs that do
        not have the figure, or are not comparable, are left out.
        """
        values = [number(run.summary.get(figure)) for run in self._runs]
        known = [position for position in self.comparable if math.isfinite(values[position])]
        if not known:
            return {}
        sign = -1 if better == "high" else 1
        best = min(known, key=lambda position: (sign * values[position], position))
        others = [position for position in known if position != best]
        level = 1 - (1 - LEVEL) / max(len(others), 1)
        return {best: None, **{each: self.difference(each, best, figure, level) for each in others}}

    def leaders(self, figure: str, better: str) -> list[int]:
        """The best run, and the others of which it cannot be told that they are worse."""
        against = self.against_best(figure, better)
        best = next(iter(against), None)
        return [
            position
            for position, found in against.items()
            if position == best or found is None or not found.excludes_zero
        ]


def interval(run: Figures, figure: str) -> Interval | None:
    """A figure of a run, or of one over several seeds, with its 95 % interval; None where there is none.

    Raises BloxError for a name that is no figure of the run.
    """
    _check_figure(figure, run)
    return sample_of(run).interval(figure)


def difference(run: Figures, other: Figures, figure: str) -> Interval | None:
    """How much larger a figure is in one run than in the other, by pairs, with its 95 % interval.

    None where that cannot be told: too few seeds or days in common, or a figure that one of them lacks.
    Raises BloxError for a name that is a figure of neither.
    """
    _check_figure(figure, run, other)
    return sample_of(run).difference(sample_of(other), figure)


def _check_figure(figure: str, *runs: Figures) -> None:
    known = {name for run in runs for name in (*run.summary, *flat(run.summary))}
    if figure not in known:
        fix = suggestion(figure, known)
        raise BloxError(f"no figure of a run's summary is called {figure!r}", where="figure", fix=fix)
