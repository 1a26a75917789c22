"""Placement by single GPUs: the walk of the contract, and the GPUs that the rule picks."""

import numpy as np
import pytest
from hypothesis import given

from blox.errors import BloxError
from blox.placement.walk.by_gpu import place_by_gpu
from blox.state.schedule import Schedule
from support.examples import examples
from support.mid_run import rounds
from support.reference_walk import first_free, per_node, walk
from support.states import admitted, idle_cluster, placed


def lowest(row, free, need):
    return free[:need]


@examples(250)
@given(rounds())
def test_the_lowest_free_ids_are_the_walk_over_ascending_nodes(case):
    states = case.schedule, case.cluster_state, case.job_state
    found = placed(place_by_gpu(*states, lowest), case.cluster_state).as_dict()
    assert {row: per_node(case.cluster_state, gpus) for row, gpus in found.items()} == walk(
        *states, first_free
    )


def test_the_rule_sees_what_is_free_and_picks_any_of_it():
    cluster_state, job_state = idle_cluster("2x2"), admitted([2, 1, 1], 100.0)
    asked = []

    def highest(row, free, need):
        asked.append((row, free.tolist(), need))
        return free[::-1][:need]

    plan = place_by_gpu(Schedule(np.array([1, 0, 2])), cluster_state, job_state, highest)
    assert asked == [(1, [0, 1, 2, 3], 1), (0, [0, 1, 2], 2), (2, [0], 1)]
    assert placed(plan, cluster_state).as_dict() == {1: (3,), 0: (1, 2), 2: (0,)}


def test_a_job_whose_rule_picks_none_waits_and_displaces_no_job_for_long():
    cluster_state, job_state = idle_cluster("1x4"), admitted([2, 1], 100.0)
    cluster_state.holdings.apply(place_by_gpu(Schedule(np.array([1])), cluster_state, job_state, lowest))

    def only_for_single_gpus(row, free, need):
        return free[:need] if need == 1 else None

    plan = place_by_gpu(Schedule(np.array([0, 1])), cluster_state, job_state, only_for_single_gpus)
    assert placed(plan, cluster_state).as_dict() == {1: (0,)}


@pytest.mark.parametrize("picked", [[0, 0], [0], [0, 1, 2], [0, 9], [-1, 0], [2, 3]])
def test_a_pick_of_other_than_free_gpus_each_once_is_refused_in_words(picked):
    cluster_state, job_state = idle_cluster("2x2"), admitted([2, 2], 100.0)
    held = place_by_gpu(
        Schedule(np.array([1])), cluster_state, job_state, lambda row, free, need: free[-need:]
    )
    cluster_state.holdings.apply(held)  # job 1 holds GPUs 2 and 3
    states = Schedule(np.array([1, 0])), cluster_state, job_state
    job_state.start(np.array([1]), np.array([2]), 1.0, 0.0)
    with pytest.raises(BloxError, match="for a job of 2 GPUs the rule picks"):
        place_by_gpu(*states, lambda row, free, need: picked)
