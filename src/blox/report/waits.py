"""The longest waits, in all and by the GPUs that jobs ask for: where jobs of one size starve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from blox.report import units
from blox.report.group_measures import WAITING
from blox.report.labels import labels
from blox.report.measures import Measure, as_number
from blox.report.run import Run
from blox.report.sheet import Row, Sheet
from blox.results.breakdown import NEEDED, GroupFigures, figures_by_group
from blox.results.comparison import Comparison
from blox.results.metrics import MOST_GPU_COUNTS
from blox.results.samples import Basis, Sample, Seeds, runs_of, sample_of
from blox.results.statistics import LEVEL, Interval

_BY_GPUS = "p95 by GPUs asked for"
_P95 = "p95_waited_s"
_LONG_S = 3600.0
_TIMES = 10.0  # so many times the average responsiveness is worth a sentence


def waiting_sheet(runs: Sequence[Run]) -> Sheet:
    """The longest waits of each run, and p95 by the GPUs that jobs ask for."""
    by_gpus = [{str(group.value): group for group in waits_by_gpus(run)} for run in runs]
    counts = sorted({count for groups in by_gpus for count in groups}, key=_least)
    rows, samples = [], []
    for name, run, groups in zip(labels(runs), runs, by_gpus):
        p95 = {_key(count): group.summary[_P95] for count, group in groups.items()}
        rows.append(Row((name,), {**run.summary, **p95}, experiment=run.experiment))
        samples.append(_Samples(sample_of(run), {_key(count): groups[count].sample for count in groups}))
    of_all = [replace(measure, group="") for measure in WAITING]
    of_sizes = [Measure(_key(count), _BY_GPUS, count, "seconds", "") for count in counts]
    shown = [*of_all, *of_sizes]
    return Sheet.of("longest waits", ["run"], rows, shown, [Comparison(rows, samples)], one_unit=True)


def starving(run: Run) -> list[str]:
    """A sentence about the jobs of the GPU count that waits longest, where the average hides it."""
    groups = waits_by_gpus(run)
    usual = as_number(run.summary.get("avg_responsiveness_s"))
    worst = max(groups, key=lambda group: as_number(group.summary[_P95]), default=None)
    if worst is None:
        return []
    p95, longest, jobs = (as_number(worst.summary[key]) for key in (_P95, "max_waited_s", "jobs"))
    if not (p95 >= _LONG_S and p95 >= _TIMES * usual):
        return []
    size = f"{worst.value} GPU{'s' if worst.value != 1 else ''}"
    seeds = len(runs_of(run))  # the number of jobs is a mean over them
    count = f"the {units.number(jobs)} " if seeds == 1 and jobs.is_integer() else ""
    which = f"the one job of {size} waits" if count and jobs == 1 else f"{count}jobs of {size} wait"
    return [
        f"{which} {units.duration(p95)} at p95 and {units.duration(longest)} at most"
        f"{_where(worst, seeds)}, while a job first starts after {units.duration(usual)} on average"
    ]


def _where(group: GroupFigures, seeds: int) -> str:
    """In which of several seeds the group has jobs, where not in all."""
    if seeds == 1 or not isinstance(group.sample, Seeds):
        return ""
    having = len(group.sample.having(_P95))
    return f" in the {having} of {seeds} seeds that have such jobs" if having < seeds else ""


def waits_by_gpus(run: Run) -> list[GroupFigures]:
    """The figures of jobs by GPU count, over all seeds; none of results without the times of waiting."""
    if any(name not in run.jobs for name in NEEDED):
        return []
    return figures_by_group(run, "gpus", most=MOST_GPU_COUNTS, own=False)


@dataclass(frozen=True)
class _Samples:
    """How sure the figures of a run are, and those of its groups of jobs, by key."""

    run: Sample
    groups: Mapping[str, Sample]

    @property
    def basis(self) -> Basis:
        return self.run.basis

    def interval(self, figure: str) -> Interval | None:
        group = self.groups.get(figure)
        return self.run.interval(figure) if group is None else group.interval(_P95)

    def difference(self, other: Any, figure: str, level: float = LEVEL) -> Interval | None:
        return self.run.difference(other.run, figure, level)

    def ratio(self, other: Any, figure: str) -> Interval | None:
        return self.run.ratio(other.run, figure)


def _key(count: str) -> str:
    return f"waited_by_gpus.{count}.p95_s"


def _least(count: str) -> float:
    """The smallest GPU count of a range, for order."""
    return as_number(count.partition("\N{EN DASH}")[0].replace(",", ""))
