"""When the rounds clock wakes, also where times are so large that rounds are lost in them."""

import math

import pytest

from blox.clock import Rounds, following
from fuzz.limits import limits


@pytest.mark.parametrize(
    ("now", "event", "wakes"),
    [(0.0, 0.0, 300.0), (0.0, 299.0, 300.0), (0.0, 301.0, 600.0), (600.0, 900.0, 900.0)],
)
def test_it_wakes_at_the_first_boundary_from_the_event_on(now, event, wakes):
    assert Rounds(300.0).next_wake(now, event, math.inf) == wakes


@pytest.mark.parametrize("target", [1e19, 1.1e300, 1e308])
def test_a_time_beyond_exact_multiples_is_its_own_boundary(target):
    with limits(1.0):
        for round_s in (0.001, 0.3, 299.7):
            assert Rounds(round_s).next_wake(0.0, target, math.inf) == target


@pytest.mark.parametrize("now", [1e19, 1e308])
def test_time_goes_on_where_a_round_is_smaller_than_the_step_between_numbers(now):
    assert following(now, 300.0) > now
    assert Rounds(300.0).next_wake(now, now, math.inf) > now


def test_endlessly_many_rounds_begin_before_a_time_that_never_comes():
    assert Rounds(300.0).wakes_before(900.0) == 3
    assert Rounds(300.0).wakes_before(math.inf) > 10**15
