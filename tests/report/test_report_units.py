"""Figures as people read them."""

from __future__ import annotations

import math

import pytest

from blox.report import measures, units
from support.toy_runs import toy_run, with_figures


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (42.5, "42.5 s"),
        (150, "2.50 min"),
        (300, "5 min"),
        (7200, "2 h"),
        (15.5 * 3600, "15.5 h"),
        (250.4 * 3600, "250 h"),
        (2400 * 3600, "100 d"),
        (math.nan, "–"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert units.duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(7, "7"), (99_999, "99,999"), (157_321, "157k"), (3.21e6, "3.2M")]
)
def test_counts_are_short(count: float, text: str) -> None:
    assert units.compact(count) == text


def test_a_column_has_one_unit() -> None:
    runs = [toy_run(jobs=2) for _ in range(3)]
    for run, value in zip(runs, (60.0, 7200.0, 36000.0)):
        run.summary["avg_jct_s"] = value
    assert measures.column(measures.AVG_JCT, runs) == ("h", ["0.0", "2.0", "10.0"])


def test_a_small_count_that_a_run_lacks_is_a_dash() -> None:
    unit, write = measures.written_in(measures.INTERRUPTIONS, [7.04, math.nan, 3.0])
    assert [unit, *map(write, (7.04, math.nan, 3.0, 12.0))] == ["", "7.0", "–", "3", "12"]


def marked(measure: measures.Measure, *values: tuple[float, ...]) -> list[int]:
    """The marks of runs with these values over their seeds."""
    return measures.best(measure, [with_figures("a", **{measure.key: each}) for each in values])


def test_the_best_value_is_marked_only_where_runs_differ_for_sure() -> None:
    low, high, doubtful = (3.0, 3.1, 3.2), (5.0, 5.1, 5.3), (2.0, 3.1, 6.2)
    nothing = (math.nan,) * 3
    assert marked(measures.AVG_JCT, low, low, low) == []
    assert marked(measures.AVG_JCT, low, nothing, low) == []
    assert marked(measures.AVG_JCT, low, high, low) == [0, 2]
    assert marked(measures.AVG_JCT, low, high, doubtful) == [0, 2]
    assert marked(measures.AVG_JCT, low, doubtful) == []
    assert marked(measures.UTILISATION, low, high) == [1]


def test_nothing_is_marked_where_there_is_one_run_of_each() -> None:
    runs = [toy_run(jobs=2) for _ in range(3)]
    for run, value in zip(runs, (3.0, 5.0, 9.0)):
        run.summary["avg_jct_s"] = value
    assert measures.best(measures.AVG_JCT, runs) == []


def test_how_far_intervals_reach_is_written_like_the_values() -> None:
    runs = [with_figures("a", avg_jct_s=(6480.0, 7200.0, 7920.0)), toy_run(jobs=2)]
    runs[1].summary["avg_jct_s"] = 36000.0
    # 4.303 * 720 s / sqrt(3) = 1,789 s = 0.5 h; the other is one run, and has none
    assert measures.column(measures.AVG_JCT, runs) == ("h", ["2.0", "10.0"])
    assert measures.half_widths(measures.AVG_JCT, runs) == ["±0.5", ""]


def test_log_axes_have_ticks_however_short() -> None:
    names = [text for _, text in units.log_ticks(0.9, 1e6)]
    assert names == ["1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "10 d"]
    assert len(units.log_ticks(3000, 9000)) >= 2


def test_one_is_told_as_one() -> None:
    told = [units.counted(count, "job runs", "jobs run") for count in (0, 1, 1200)]
    assert told == ["0 jobs run", "1 job runs", "1,200 jobs run"]
