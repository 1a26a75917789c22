"""Intervals: known answers by hand, and how often they hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from blox.results.bootstrap import block_days, resampled_days, resampled_means, resampled_quantiles
from blox.results.statistics import (
    Interval,
    bootstrap_interval,
    mean_interval,
    paired_interval,
    t_quantile,
)


@pytest.mark.parametrize(
    ("probability", "degrees", "value"),
    # the usual printed table of Student's t
    [(0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 4, 2.776), (0.975, 9, 2.262), (0.975, 30, 2.042),
     (0.95, 5, 2.015), (0.995, 10, 3.169), (0.975, 1000, 1.962)],
)  # fmt: skip
def test_quantiles_of_student_s_t(probability: float, degrees: int, value: float) -> None:
    assert t_quantile(probability, degrees) == pytest.approx(value, abs=5e-4)


def test_the_mean_of_five_by_hand() -> None:
    # mean 10, sample variance (4 + 1 + 0 + 1 + 4) / 4 = 2.5, half width 2.776 * sqrt(2.5 / 5) = 1.963
    found = mean_interval(np.array([8.0, 9.0, 10.0, 11.0, 12.0]))
    assert found is not None
    assert found.estimate == 10.0
    assert (found.low, found.high) == pytest.approx((8.0368, 11.9632), abs=1e-4)
    assert found.half_width == pytest.approx(1.9632, abs=1e-4)


def test_one_value_has_no_interval() -> None:
    assert mean_interval(np.array([8.0])) is None
    assert mean_interval(np.array([8.0, math.nan])) is None


def test_a_paired_difference_by_hand() -> None:
    # seeds vary by far more than schedulers: 100, 200, 300; the differences are 1, 2, 3
    # mean 2, variance 1, half width 4.303 * sqrt(1 / 3) = 2.484: not distinguishable; 2, 2.1, 1.9 are
    first = np.array([101.0, 202.0, 303.0])
    found = paired_interval(first, np.array([100.0, 200.0, 300.0]))
    assert found is not None and (found.low, found.high) == pytest.approx((-0.4842, 4.4842), abs=1e-4)
    assert not found.excludes_zero
    narrow = paired_interval(np.array([102.0, 202.1, 301.9]), np.array([100.0, 200.0, 300.0]))
    assert narrow is not None and narrow.excludes_zero


def test_what_differs_by_rounding_alone_is_no_difference() -> None:
    values = np.array([0.1, 0.2, 0.3])
    found = paired_interval(values + 1e-17, np.nextafter(values, 1))
    assert found == Interval(0.0, 0.0, 0.0) and not found.excludes_zero


def test_resampled_days_are_blocks_of_neighbours_in_a_circle() -> None:
    assert [block_days(days) for days in (1, 3, 10, 30, 75)] == [1, 1, 2, 3, 4]
    counts = resampled_days(10)
    assert (counts.sum(axis=1) == 10).all()
    once = counts[(counts.max(axis=1) == 1)]
    assert len(once) == 0 or (once == 1).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(10), abs=0.1)


def test_resampled_means_and_quantiles_by_hand() -> None:
    # one value a day: the mean of a resample is that of the days drawn, each as often as it was
    values, day = np.array([1.0, 2.0, 4.0]), np.arange(3)
    counts = resampled_days(3)
    assert resampled_means(values, day, 3) == pytest.approx(counts @ values / 3)
    lowest, highest = resampled_quantiles(values, day, 3, (1e-9, 1.0))
    only_first = counts[:, 0] == 3
    assert only_first.any()
    assert lowest[only_first] == pytest.approx(1.0) and (highest[counts[:, 2] > 0] == 4.0).all()


def test_quantiles_of_many_values_are_those_of_numpy() -> None:
    values = np.random.default_rng(1).lognormal(8, 2, 20_000)
    same = np.ones(2000)
    (p99,) = resampled_quantiles(values, np.zeros(20_000, dtype=np.int64), 1, (0.99,))
    assert p99 == pytest.approx(same * np.percentile(values, 99), rel=0.01)


def test_few_blocks_have_no_bootstrap_interval() -> None:
    assert bootstrap_interval(0.0, np.zeros(100), blocks=4) is None
    assert bootstrap_interval(math.nan, np.zeros(100), blocks=9) is None
    assert bootstrap_interval(1.0, np.ones(100), blocks=9) == Interval(1.0, 1.0, 1.0)


# --- how often the interval holds the truth: 95 % +- 2 % of 1,000 repetitions

REPETITIONS = 1000


def holds(found: Interval | None, truth: float) -> bool:
    return found is not None and found.low <= truth <= found.high


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_the_t_interval_covers(seeds: int) -> None:
    samples = np.random.default_rng(7).normal(4.0, 1.5, (REPETITIONS, seeds))
    assert np.mean([holds(mean_interval(each), 4.0) for each in samples]) == pytest.approx(0.95, abs=0.02)


def test_the_paired_interval_covers_where_seeds_vary_by_far_more() -> None:
    rng = np.random.default_rng(8)
    of_seed = rng.normal(100, 50, (REPETITIONS, 5))
    first, second = (of_seed + rng.normal(mean, 1, of_seed.shape) for mean in (3.0, 1.0))
    found = [paired_interval(a, b) for a, b in zip(first, second)]
    assert np.mean([holds(each, 2.0) for each in found]) == pytest.approx(0.95, abs=0.02)
    assert np.mean([each is not None and each.half_width < 10 for each in found]) > 0.99


@pytest.mark.parametrize("days", [20, 40, 60])
def test_the_block_bootstrap_covers(days: int) -> None:
    """Days differ in how many jobs they have and in how long these take."""
    rng, kept = np.random.default_rng(9), 0
    for _ in range(REPETITIONS):
        jobs = rng.poisson(30, days) + 1
        day = np.repeat(np.arange(days), jobs)
        values = 10 + rng.normal(0, 2, days)[day] + rng.normal(0, 3, len(day))
        estimate, blocks = float(values.mean()), days // block_days(days)
        kept += holds(bootstrap_interval(estimate, resampled_means(values, day, days), blocks), 10.0)
    assert kept / REPETITIONS == pytest.approx(0.95, abs=0.02)


def test_the_block_bootstrap_covers_a_paired_difference() -> None:
    rng, kept, days = np.random.default_rng(10), 0, 40
    day = np.repeat(np.arange(days), 20)
    for _ in range(REPETITIONS):
        shared = 10 + rng.normal(0, 5, days)[day] + rng.normal(0, 3, len(day))
        gain = 1 + rng.normal(0, 0.5, days)[day] + rng.normal(0, 1, len(day))
        resampled = resampled_means(shared + gain, day, days) - resampled_means(shared, day, days)
        found = bootstrap_interval(float(gain.mean()), resampled, days // block_days(days))
        kept += holds(found, 1.0)
    assert kept / REPETITIONS == pytest.approx(0.95, abs=0.02)


def test_blocks_cover_more_than_single_days_where_a_backlog_lasts() -> None:
    """Days that lean on the day before (correlation 0.5): days drawn one by one would hold 75 %."""
    rng, kept, days, reps = np.random.default_rng(11), 0, 60, 300
    for _ in range(reps):
        level = np.zeros(days + 20)
        for at in range(1, len(level)):
            level[at] = 0.5 * level[at - 1] + rng.normal(0, math.sqrt(0.75))
        values = 10 + level[20:]
        resampled = resampled_means(values, np.arange(days), days)
        kept += holds(bootstrap_interval(float(values.mean()), resampled, days // block_days(days)), 10.0)
    assert kept / reps > 0.84
