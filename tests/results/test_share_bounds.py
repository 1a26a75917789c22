"""Bands around distributions: by seeds as Student's t has them, by days from the bootstrap."""

from types import SimpleNamespace

import numpy as np
import pytest

from blox.results.samples import DAY_S
from blox.results.share_bounds import share_bounds
from blox.results.statistics import mean_interval


def run(jct_s, submit_s=None, seed=0):
    jct_s = np.array(jct_s, dtype=float)
    submit_s = np.zeros(len(jct_s)) if submit_s is None else submit_s
    experiment = {"seed": seed, "provenance": {"workload_sha256": str(seed)}}
    jobs = {"jct_s": jct_s, "submit_s": submit_s, "in_window": np.ones(len(jct_s))}
    return SimpleNamespace(experiment=experiment, summary={}, jobs=jobs)


def test_over_seeds_each_value_has_the_interval_of_its_shares():
    seeds = [run([1, 2, 3, 4], seed=0), run([2, 2, 5, np.nan], seed=1), run([1, 1, 1, 9], seed=2)]
    several = SimpleNamespace(runs=seeds, experiment={}, summary={}, jobs={})
    low, high = share_bounds(several, "jct_s", np.array([2.0, 4.0]))
    wanted = [mean_interval(np.array(each)) for each in ((2 / 4, 2 / 3, 3 / 4), (4 / 4, 2 / 3, 3 / 4))]
    assert low.tolist() == pytest.approx([max(each.low, 0) for each in wanted])
    assert high.tolist() == pytest.approx([min(each.high, 1) for each in wanted])


def test_of_one_trace_days_are_resampled():
    rng = np.random.default_rng(1)
    day = np.repeat(np.arange(30), 40)
    jct_s = rng.exponential(100, len(day)) * (1 + 0.5 * (day % 3))
    low, high = share_bounds(run(jct_s, day * DAY_S), "jct_s", np.array([50.0, 150.0, 1e9]))
    shares = np.array([(jct_s <= at).mean() for at in (50.0, 150.0, 1e9)])
    assert (low <= shares).all() and (shares <= high).all()
    assert (high - low)[:2].min() > 0.02 and low[2] == high[2] == 1


def test_a_few_days_say_nothing():
    assert share_bounds(run([1, 2, 3]), "jct_s", np.array([2.0])) is None
