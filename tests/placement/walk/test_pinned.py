"""Schedules that place too: every placement policy honours pins."""

import numpy as np
import pytest

from blox.registry import build
from blox.state.plan import Plan
from blox.state.schedule import Schedule
from support.states import admitted, idle_cluster, placed


def states(gpus, cluster="2x4"):
    return idle_cluster(cluster), admitted(gpus, 100.0)


@pytest.mark.parametrize("placement", ["first-free", "count", "random", "consolidated", "scattered", "yarn"])
def test_every_placement_honours_pins(placement):
    cluster_state, job_state = states([2, 1, 1])
    schedule = Schedule(np.array([2, 0, 1]), pinned={0: (5, 2), 2: (7,)})
    wanted = build("placement", placement).place(schedule, cluster_state, job_state)
    assert placed(wanted, cluster_state).as_dict() == {2: (7,), 0: (5, 2), 1: (0,)}


def test_pins_keep_their_order_where_everybody_has_some():
    cluster_state, job_state = states([2, 2])
    schedule = Schedule(np.arange(2), pinned={0: (5, 2), 1: (7, 0)})
    wanted = build("placement", "first-free").place(schedule, cluster_state, job_state)
    launch = Plan.diff(cluster_state.allocation, wanted).launch
    assert (launch.jobs.tolist(), launch.gpus.tolist()) == ([0, 1], [5, 2, 7, 0])


def test_who_has_no_pins_takes_what_is_left_and_displaces_nobody():
    cluster_state, job_state = states([4, 6, 2])
    place = build("placement", "first-free").place
    pinned = {0: (0, 1, 2, 3)}
    found = place(Schedule(np.arange(3), pinned=pinned), cluster_state, job_state)
    assert placed(found, cluster_state).as_dict() == {
        0: (0, 1, 2, 3),
        2: (4, 5),
    }
    strict = place(Schedule(np.arange(3), strict=True, pinned=pinned), cluster_state, job_state)
    assert placed(strict, cluster_state).as_dict() == pinned and strict.blocked


def test_another_configuration_on_the_same_gpus_is_an_adjustment():
    cluster_state, job_state = states([2, 2])
    place = build("placement", "consolidated").place

    def wanted(batch, where=(0, 1)):
        pinned = {0: where, 1: (2, 3)}
        return place(
            Schedule(np.arange(2), pinned=pinned, config=np.array([batch, 64.0])), cluster_state, job_state
        )

    cluster_state.holdings.apply(wanted(32.0))
    assert Plan.diff(cluster_state.allocation, wanted(32.0)).empty
    plan = Plan.diff(cluster_state.allocation, wanted(48.0))
    assert plan.adjust.jobs.tolist() == [0] and plan.adjust.config.tolist() == [48.0]
    assert not len(plan.move.jobs) and not len(plan.launch.jobs)
    assert Plan.diff(cluster_state.allocation, wanted(32.0, (4, 5))).move.jobs.tolist() == [0]
