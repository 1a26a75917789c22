"""A figure of one run over that of another, by pairs: over seeds by hand, over days from the bootstrap."""

from types import SimpleNamespace

import numpy as np
import pytest

from blox.results.comparison import Comparison
from blox.results.samples import DAY_S
from blox.results.statistics import mean_interval


def seeded(*values):
    """A run over several seeds, each with jobs of its own and this average JCT."""
    runs = [
        SimpleNamespace(
            experiment={"seed": seed, "provenance": {"workload_sha256": str(seed)}},
            summary={"avg_jct_s": value},
            jobs={},
        )
        for seed, value in enumerate(values)
    ]
    return SimpleNamespace(runs=runs, experiment={}, summary={"avg_jct_s": np.mean(values)}, jobs={})


def traced(jct_s, day):
    """One run of one trace, its jobs by day of submission."""
    jobs = {"jct_s": jct_s, "submit_s": day * DAY_S, "in_window": np.ones(len(day))}
    return SimpleNamespace(experiment={}, summary={"avg_jct_s": float(jct_s.mean())}, jobs=jobs)


def test_over_seeds_it_is_that_of_the_means():
    """2, 4, 6 over 1, 2, 2: 12 / 5; what is left of each pair is 2 - 2.4, 4 - 4.8, 6 - 4.8."""
    found = Comparison([seeded(2.0, 4.0, 6.0), seeded(1.0, 2.0, 2.0)]).ratio(0, 1, "avg_jct_s")
    error = mean_interval(np.array([-0.4, -0.8, 1.2]))
    assert found.estimate == pytest.approx(2.4)
    assert found.low == pytest.approx(2.4 + error.low / (5 / 3)) and found.low + found.high == pytest.approx(
        4.8
    )


def test_pairs_in_proportion_leave_no_doubt():
    found = Comparison([seeded(2.0, 6.0, 10.0), seeded(1.0, 3.0, 5.0)]).ratio(0, 1, "avg_jct_s")
    assert (found.low, found.estimate, found.high) == pytest.approx((2.0, 2.0, 2.0))


def test_days_are_drawn_for_both_at_once():
    rng = np.random.default_rng(2)
    day = np.repeat(np.arange(30.0), 20)
    base = rng.exponential(100, len(day)) * (1 + day % 3)
    noisy = 1.5 * base * rng.uniform(0.9, 1.1, len(day))
    runs = Comparison([traced(1.5 * base, day), traced(base, day), traced(noisy, day)])
    exact, near = runs.ratio(0, 1, "avg_jct_s"), runs.ratio(2, 1, "avg_jct_s")
    assert (exact.low, exact.high) == pytest.approx((1.5, 1.5))
    assert near.low < near.estimate < near.high and near.high - near.low < 0.1


def test_it_is_not_told_of_too_few_days_or_of_a_baseline_of_nothing():
    few = np.repeat(np.arange(3.0), 5)
    runs = Comparison([traced(np.ones(15), few), traced(np.ones(15), few)])
    assert runs.ratio(0, 1, "avg_jct_s") is None
    assert Comparison([seeded(1.0, 2.0), seeded(0.0, 0.0)]).ratio(0, 1, "avg_jct_s") is None
