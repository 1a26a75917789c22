"""Quantile tables, weighted choices and the mix of jobs made of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blox.errors import BloxError
from blox.workloads.distributions import Choices, JobMix, LogQuantiles

TABLE = LogQuantiles((0, 0.5, 1), (1, 100, 100))


def test_quantiles_are_met_and_lie_on_a_line_of_logarithms_between() -> None:
    assert TABLE.at(np.array([0, 0.25, 0.5, 0.75, 1])) == pytest.approx([1, 10, 100, 100, 100])


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=8))
@example([999999.9999999999, 1e6])
def test_the_mean_is_the_integral_of_the_quantiles(values: list[float]) -> None:
    table = LogQuantiles(tuple(np.linspace(0, 1, len(values))), tuple(sorted(values)))
    middles = (np.arange(200_000) + 0.5) / 200_000
    assert table.mean == pytest.approx(table.at(middles).mean(), rel=1e-3)


@pytest.mark.parametrize("factor", [0.0, 0.25, 1.0, 2.0])
def test_another_spread_keeps_the_mean_and_scales_the_logarithms(factor: float) -> None:
    spread = TABLE.spread(factor)
    assert spread.mean == pytest.approx(TABLE.mean)
    assert spread.values[1] / spread.values[0] == pytest.approx(100**factor)
    assert JobMix((1,), (1,), (TABLE,)).spread(factor).durations == (TABLE if factor == 1 else spread,)


def test_choices_follow_their_weights() -> None:
    assert Choices((1, 2, 1)).at(np.array([0, 0.2499, 0.25, 0.7499, 0.75, 0.9999])).tolist() == [
        0,
        0,
        1,
        1,
        2,
        2,
    ]
    assert Choices((3,)).at(np.array([0, 0.999])).tolist() == [0, 0]


def test_a_mix_draws_sizes_and_the_durations_that_belong_to_them() -> None:
    mix = JobMix((1, 4), (3, 1), (LogQuantiles((0, 1), (1, 100)), LogQuantiles((0, 1), (1000, 1000))))
    gpus, seconds = mix.draw(np.array([0.1, 0.8, 0.5]), np.array([0.5, 0.5, 0.0]))
    assert gpus.tolist() == [1, 4, 1]
    assert seconds == pytest.approx([10, 1000, 1])
    assert mix.mean_gpu_seconds == pytest.approx(0.75 * 99 / np.log(100) + 0.25 * 4 * 1000)


def test_no_job_left_under_the_limit_is_an_error() -> None:
    mix = JobMix((2, 4), (1, 1), (TABLE, TABLE))
    assert mix.at_most(3).sizes == (2,)
    with pytest.raises(BloxError, match="the smallest job asks for 2"):
        mix.at_most(1)
