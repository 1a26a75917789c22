"""Sheet: a table of figures before it is the terminal's, a page's or a file's.

Rows have names and figures. Every column has one unit for all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from blox.report import measures
from blox.report.measures import Mark, Measure
from blox.report.run import Array, Run
from blox.report.units import column_unit
from blox.results.comparison import Comparison


@dataclass(frozen=True)
class Row:
    """The figures of one row, in the shape of a run, so that measures can be read of it."""

    names: tuple[str, ...]
    summary: Mapping[str, Any]
    label: str = ""
    experiment: Mapping[str, Any] = field(default_factory=dict)
    timing: Mapping[str, Any] = field(default_factory=dict)
    jobs: Mapping[str, Array] = field(default_factory=dict)
    rounds: Mapping[str, Array] = field(default_factory=dict)
    stints: Mapping[str, Array] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A measure over all rows, as texts in one unit; how far intervals reach (`±0.3`); marks.

    Rows that are compared with one another have one that is best, and others not distinguishable from it.
    """

    measure: Measure
    unit: str
    texts: tuple[str, ...]
    reach: tuple[str, ...]
    marks: tuple[Mark, ...]

    @property
    def head(self) -> str:
        """`JCT average (h)`."""
        name = f"{self.measure.group} {self.measure.name}".strip()
        return f"{name} ({self.unit})" if self.unit else name


@dataclass(frozen=True)
class Sheet:
    """A table: `heads` of the names, then the columns of figures."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]

    @classmethod
    def of(
        cls,
        title: str,
        heads: Sequence[str],
        rows: Sequence[Row],
        shown: Sequence[Measure],
        compared: Sequence[Comparison[Run]],
        *,
        absent: bool = False,
        one_unit: bool = False,
    ) -> Sheet:
        """The sheet of these measures; those that no row has are left out, unless `absent`. `one_unit`: all
        times are in the same.

        `compared` are the rows again, one after another: those of one comparison are compared with one
        another, and have intervals.
        """
        columns = []
        times = [measure.of(row) for measure in shown if measure.kind == "seconds" for row in rows]
        time = column_unit(times) if one_unit else None
        for measure in shown:
            if absent or any(measure.key in row.summary for row in rows):
                unit, texts = measures.column(measure, rows, short=True, time=time)
                reach = measures.reaches(measure, compared, short=True, time=time)
                marks = [mark for each in compared for mark in measures.marks(measure, each)]
                columns.append(Column(measure, unit, tuple(texts), tuple(reach), tuple(marks)))
        return cls(title, tuple(heads), tuple(rows), tuple(columns))

    def groups(self) -> list[tuple[str, int]]:
        """The groups of measures above the heads, and over how many columns each goes."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            group = column.measure.group
            if found and found[-1][0] == group:
                found[-1] = (group, found[-1][1] + 1)
            else:
                found.append((group, 1))
        return found
