"""The profile of free GPUs: taking many at once, which jobs might fit sooner, and what needs one node."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blox.placement import Consolidated
from blox.schedulers.backfill.profile import Profile, Wants
from blox.schedulers.backfill.room import FutureRoom
from blox.state.windows import Window
from support.states import admitted, idle_cluster

GPUS, UNITS = 4, 3
SPANS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 12), st.integers(0, UNITS - 1), st.integers(1, GPUS)),
    max_size=12,
)  # begin, length, unit, GPUs
ENDS = st.lists(
    st.tuples(st.integers(1, 15), st.integers(0, UNITS - 1), st.integers(1, 2)), max_size=4
)  # of running jobs: when, which unit, GPUs


def profile_of(ends):
    released = np.zeros((len(ends), UNITS), dtype=np.int64)
    for at, (_, unit, gpus) in enumerate(ends):
        released[at, unit] = gpus
    free = np.full(UNITS, GPUS) - released.sum(axis=0)
    return Profile(0.0, np.maximum(free, 0), np.array([float(end) for end, *_ in ends]), released)


def free_by_second(profile):
    return [profile.at(second + 0.5).tolist() for second in range(45)]


@settings(max_examples=80, deadline=None)
@given(ends=ENDS, spans=SPANS)
def test_taking_all_at_once_is_taking_one_after_the_other(ends, spans):
    at_once, one_by_one = profile_of(ends), profile_of(ends)
    wanted = [(float(begin), float(length), [(unit, gpus)]) for begin, length, unit, gpus in spans]
    before = free_by_second(at_once)
    for begin, length, shares in wanted:
        one_by_one.take(begin, length, shares)
    possible = bool((one_by_one.free >= 0).all())
    assert at_once.take_all(wanted) == possible
    assert free_by_second(at_once) == (free_by_second(one_by_one) if possible else before)


@settings(max_examples=80, deadline=None)
@given(
    ends=ENDS, spans=SPANS, gpus=st.integers(1, GPUS), length=st.integers(1, 12),
    own=st.integers(0, UNITS - 1), begin=st.integers(1, 40), whole=st.booleans(),
)  # fmt: skip
def test_a_job_that_fits_before_its_place_is_among_those_that_might(
    ends, spans, gpus, length, own, begin, whole
):
    """Every second before its own place is tried, by a rule that takes one unit, or any GPUs."""

    def choose(free, _):
        if not whole:
            return [(0, gpus)] if free.sum() >= gpus else None
        return next(([(unit, gpus)] for unit in range(UNITS) if free[unit] >= gpus), None)

    profile = profile_of(ends)
    place = (float(begin), float(length), [(own, gpus)])
    for at, lasts, unit, count in [(begin, length, own, gpus), *spans]:
        span = (float(at), float(lasts), [(unit, count)])
        if profile.holds(*span):
            profile.take(*span)
        elif span == place:
            return  # it could not have that place
    wants = Wants(np.array([gpus]), np.array([float(length)]), np.array([whole]))
    might = profile.sooner(wants, np.array([float(begin)]), np.array([own if whole else 0]))
    profile.take(*place, sign=-1)
    assert might[0] or not any(profile.fits(float(at), float(length), choose) for at in range(begin))


@pytest.mark.parametrize(
    ("fallback", "need", "whole"),
    [("wait", 4, True), ("wait", 8, False), ("spread", 4, False), ("spread", 1, True)],
)
def test_whether_a_job_needs_one_node_is_asked_of_the_rule(fallback, need, whole):
    """On nodes of four GPUs: one that waits for a node has four on one, eight on two; one GPU is on one."""
    jobs, cluster = admitted([need], 10.0), idle_cluster("3x4")
    cluster.node_rule = Consolidated(fallback=fallback).node_rule
    assert FutureRoom(jobs.active, cluster, jobs).whole(0, need) == whole


@pytest.mark.parametrize(
    ("gpu_types", "whole"), [("", True), ("v100", True), ("k80", False), ("k80|v100", True)]
)
def test_whether_a_job_needs_one_node_follows_from_the_nodes_that_it_may_use(gpu_types, whole):
    """On the node of eight GPUs a job of six is on one, on nodes of four on two."""
    jobs, cluster = admitted([6, 6], 10.0, gpu_types=["", gpu_types]), idle_cluster("v100=1x8,k80=2x4")
    cluster.node_rule = Consolidated().node_rule
    room = FutureRoom(jobs.active, cluster, jobs)
    assert room.whole(0, 6)
    assert room.whole(1, 6) == whole


@pytest.mark.parametrize(
    ("closed", "need", "whole"),
    [((0, 1), 6, False), ((0, 1), 4, True), ((0,), 6, True), ((1, 2, 3), 6, True), ((), 6, True)],
)
def test_a_job_needs_no_one_node_where_windows_close_all_that_are_large_enough(closed, need, whole):
    """Nodes 0 and 1 have eight GPUs, 2 and 3 four; each window closes one of them."""
    jobs, cluster = admitted([need], 10.0), idle_cluster("large=2x8,small=2x4")
    cluster.node_rule = Consolidated().node_rule
    cluster.windows = tuple(Window("", 100.0, 200.0, np.array([node])) for node in closed)
    assert FutureRoom(jobs.active, cluster, jobs).whole(0, need) == whole
