"""What the guard says of answers whose parts do not fit together."""

import numpy as np
import pytest

from blox.checks import answers
from blox.checks.broken import Broken
from blox.state.plan import Allocation
from blox.state.schedule import Schedule
from support.states import admitted, idle_cluster

ROW = np.array([0])


@pytest.fixture
def states():
    return admitted([1, 1]), idle_cluster("1x4")


@pytest.mark.parametrize("answer", [(ROW, np.zeros(3)), [[0], [0, 1]], [10**40, "x", [1]]])
def test_lists_of_several_lengths_are_no_rows(states, answer):
    with pytest.raises(Broken, match=r"terminate\(\) returns (tuple|list|an array)"):
        answers.terminated(answer, states[0])


@pytest.mark.parametrize("strict", ["", None, np.zeros((2, 2)), 1])
def test_strict_is_true_or_false(states, strict):
    with pytest.raises(Broken, match=r"the Schedule's strict is (.|\n)*, not True or False"):
        answers.scheduled(Schedule(ROW, (), strict), *states)
    assert answers.scheduled(Schedule(ROW, (), np.bool_(True)), *states).strict


def test_an_allocation_lacks_nothing(states):
    with pytest.raises(Broken, match="the Allocation's counts are None"):
        answers.placed(Allocation(ROW, None, ROW), Schedule(ROW), states[1], states[0])


def test_a_time_is_a_number_that_a_clock_can_show():
    with pytest.raises(Broken, match=r"stable_until\(\) returns 1000.*, not a time"):
        answers.stable(10**400)
