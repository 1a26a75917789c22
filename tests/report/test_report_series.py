"""The numbers behind the pictures."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blox.report import colours, series
from support.toy_runs import toy_run


def test_cdf_of_four_values_is_four_steps() -> None:
    found = series.cdf(np.array([4.0, 1.0, np.nan, 2.0, 2.0]))
    assert found.value.tolist() == [1, 2, 2, 4]
    assert found.share.tolist() == [0.25, 0.5, 0.75, 1.0]


def test_cdf_of_many_values_is_thinned_and_every_point_is_exact() -> None:
    values = np.random.default_rng(3).lognormal(size=50_000)
    found = series.cdf(values, points=300)
    assert len(found.value) <= 300
    assert found.value[0] == values.min() and found.value[-1] == values.max()
    for value, share in zip(found.value, found.share):
        assert np.mean(values <= value) == pytest.approx(share)


def test_cdf_of_nothing_is_empty() -> None:
    assert len(series.cdf(np.array([])).value) == 0
    assert len(series.cdf(np.array([np.nan, np.inf])).value) == 0


def test_a_short_level_is_exact_and_holds_to_the_end() -> None:
    found = series.level(np.array([0.0, 10.0]), np.array([1.0, 5.0]), end_s=30.0)
    assert found.low is None
    assert found.time.tolist() == [0, 10, 30]
    assert found.value.tolist() == [1, 5, 5]


def test_a_long_level_is_averaged_over_time_not_over_rows() -> None:
    # 1 for 9 s, then ten changes in the last second, ending at 3.
    time = np.concatenate(([0.0], np.linspace(9.0, 9.9, 10)))
    value = np.concatenate(([1.0], np.full(10, 3.0)))
    found = series.level(time, value, end_s=10.0, points=1)
    assert found.value.tolist() == [pytest.approx(1.2)]


@given(
    gaps=st.lists(st.floats(0.01, 1e4), min_size=5, max_size=200),
    seed=st.integers(0, 1000),
    points=st.integers(1, 40),
)
def test_a_long_level_keeps_extremes_and_area(gaps: list[float], seed: int, points: int) -> None:
    time = np.cumsum(gaps)
    value = np.random.default_rng(seed).integers(0, 100, len(time)).astype(float)
    end = time[-1] + 1.0
    found = series.level(time, value, end, points)
    if found.low is None or found.high is None:
        assert len(time) <= points
        return
    assert found.low.min() == value.min() and found.high.max() == value.max()
    assert np.all(found.low <= found.value) and np.all(found.value <= found.high)
    area = np.sum(value * np.diff(np.append(time, end)))
    assert np.sum(found.value) * found.interval_s == pytest.approx(area, rel=1e-6, abs=1e-6)


def test_gaps_in_a_level_count_for_nothing() -> None:
    value = np.tile([np.nan, 4.0], 50)
    found = series.level(np.arange(100.0), value, end_s=100.0, points=10)
    assert found.low is not None
    assert set(found.value) == {4.0} and set(found.low) == {4.0}


def test_only_the_tracking_window_counts() -> None:
    run = toy_run(jobs=5)
    run.jobs["in_window"][:] = [0, 1, 1, 0, 0]
    assert series.tracked(run, "jct_s").tolist() == run.jobs["jct_s"][1:3].tolist()


def test_an_empty_run_has_no_levels() -> None:
    run = toy_run(jobs=3, max_rounds=0)
    assert series.end_of(run) == 0.0 and len(series.utilisation(run).time) == 0


def test_waits_that_the_scheduler_decided_are_a_cause_where_a_run_has_them() -> None:
    plain = toy_run(jobs=2)
    told = replace(plain, summary={**plain.summary, "wait_scheduler_s": 120.0})
    usual = ("admission", "priority", "capacity", "fragmentation", "arrival")
    assert series.causes([plain]) == usual
    assert series.causes([plain, told]) == (*usual[:-1], "scheduler", "arrival")
    assert series.waiting(told)["scheduler"] == 120.0
    assert set(series.causes([told])) <= set(colours.CAUSES)


def test_the_axis_of_fairness_says_what_its_definition_says(project: Path) -> None:
    """1 is where a job is as well off as with an equal part of the cluster; not as alone."""
    [row] = re.findall(
        r"^\| `rho` \| (.*) \|$", (project / "docs" / "semantics.md").read_text(), re.MULTILINE
    )
    assert "at most 1: no worse off than with an equal part" in row
    assert series.RHO_AXIS == "rho (at most 1: as with an equal part, or better)"
