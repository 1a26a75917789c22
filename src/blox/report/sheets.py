"""The sheets of runs: their figures, the longest waits, and what not every run has."""

from __future__ import annotations

from collections.abc import Sequence

from blox.report.causes import causes_sheet
from blox.report.group_measures import (
    AVG_SLOWDOWN,
    COST,
    DEADLINES,
    ENDED_EARLY,
    ENERGY,
    GPU_HOURS,
    LINKS,
    P95_SLOWDOWN,
    SAVED,
    own_measures,
    some,
)
from blox.report.labels import labels
from blox.report.measures import JOBS, TERMINAL, Measure
from blox.report.run import Run
from blox.report.sheet import Row, Sheet
from blox.report.waits import waiting_sheet
from blox.results.comparison import Comparison

IDLE_ENERGY = Measure("idle_energy_kwh", "energy", "idle kWh", "number")


def run_sheets(runs: Sequence[Run]) -> list[Sheet]:
    """The figures of runs, a row per run: the common ones, causes and lengths of waits, and others."""
    rows = [_row(name, run) for name, run in zip(labels(runs), runs)]
    common = [measure for measure in TERMINAL if measure.kind != "rate"]
    return [
        Sheet.of("all jobs", ["run"], rows, [JOBS, *common], [Comparison.of(runs)]),
        causes_sheet(runs),
        waiting_sheet(runs),
        further_sheet(runs),
    ]


def further_sheet(runs: Sequence[Run]) -> Sheet:
    """Slowdown, GPU hours, deadlines, cost, energy and metrics of one's own, where the runs have them."""
    rows = [_row(name, run) for name, run in zip(labels(runs), runs)]
    shown = [AVG_SLOWDOWN, P95_SLOWDOWN, GPU_HOURS, *_further(runs)]
    return Sheet.of("other figures", ["run"], rows, shown, [Comparison.of(runs)])


def _further(runs: Sequence[Run]) -> list[Measure]:
    """Measures that say something about these runs only: none has them, or all are 0, otherwise."""
    found = [measure for measure in (ENDED_EARLY, *SAVED, LINKS) if some(measure, runs)]
    found += DEADLINES if some(DEADLINES[0], runs) else ()
    found += [measure for measure in (COST, ENERGY, IDLE_ENERGY) if some(measure, runs)]
    return found + own_measures(runs)


def _row(name: str, run: Run) -> Row:
    return Row((name,), run.summary, timing=run.timing)
