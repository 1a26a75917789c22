"""Figures by GPU count, tenant, model, ...: a table of them, and which run is best in each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.report.group_measures import chosen
from blox.report.labels import labels
from blox.report.measures import Measure
from blox.report.run import Run
from blox.report.sheet import Row, Sheet
from blox.report.verdicts import Verdicts, of_groups
from blox.results.breakdown import figures_by_group
from blox.results.comparison import Comparison
from blox.results.samples import Sample

MOST_GROUPS = 12  # in a table; others are put together
_NAMES = {"gpus": "GPU count", "job_type": "job type"}


@dataclass(frozen=True)
class Breakdown:
    """The figures of runs by a column of jobs: a row per group and run, compared within each group."""

    named: str  # the column, in words
    names: tuple[str, ...]  # of the runs
    measures: tuple[Measure, ...]
    groups: tuple[Comparison[Row], ...]  # the runs that have jobs in each group
    sheet: Sheet
    verdicts: Verdicts | None  # by the first of the measures that has a best value

    @classmethod
    def of(cls, runs: Sequence[Run], column: str, measures: Sequence[str] = ()) -> Breakdown:
        """`measures` are names as `--measures` takes them; without any, the usual ones."""
        groups, shown = _compared(runs, column), chosen(measures, runs)
        named = _NAMES.get(column, column)
        rows = [row for group in groups for row in group]
        ranked = next((measure for measure in shown if measure.better), None)
        return cls(
            named,
            tuple(labels(runs)),
            tuple(shown),
            tuple(groups),
            Sheet.of(f"by {named}", [named, "run"], rows, shown, groups),
            None if ranked is None else of_groups(groups, named, ranked),
        )


def _compared(runs: Sequence[Run], column: str) -> list[Comparison[Row]]:
    """For each value of a column the figures that every run has of its jobs."""
    rows: dict[str, list[Row]] = {}
    samples: dict[str, list[Sample]] = {}
    for name, run in zip(labels(runs), runs):
        for group in figures_by_group(run, column, most=MOST_GROUPS):
            value = str(group.value)
            row = Row((value, name), group.summary, experiment=run.experiment)
            rows.setdefault(value, []).append(row)
            samples.setdefault(value, []).append(group.sample)
    return [Comparison(rows[value], samples[value]) for value in rows]
