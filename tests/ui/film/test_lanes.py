"""Any moment of a run is found in its lanes: what holds each GPU, also where jobs share one."""

import numpy as np
import pytest

from blox.ui.film.lanes import lanes_of


def stints(*rows):
    columns = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return dict(zip(("job", "gpu", "start_s", "end_s"), (*columns[:2].astype(np.int64), *columns[2:])))


def holding(lanes, time_s):
    """(GPU, job) at a time, by a binary search in every lane, as the page does it."""
    found = []
    for lane, gpu in enumerate(lanes.gpu.tolist()):
        first, last = lanes.first[lane], lanes.first[lane + 1]
        at = first + int(lanes.start_s[first:last].searchsorted(time_s, side="right")) - 1
        if at >= first and time_s < lanes.end_s[at]:
            found.append((gpu, int(lanes.job[at])))
    return sorted(found)


def test_a_gpu_that_is_not_shared_has_one_lane():
    lanes = lanes_of(stints((7, 1, 0, 5), (8, 1, 5, 9), (9, 0, 2, 3)))
    assert lanes.gpu.tolist() == [0, 1]
    assert holding(lanes, 5.0) == [(1, 8)]
    assert holding(lanes, 2.5) == [(0, 9), (1, 7)]
    assert holding(lanes, 9.0) == []


def test_jobs_that_share_a_gpu_stand_in_lanes_of_their_own():
    lanes = lanes_of(stints((1, 0, 0, 10), (2, 0, 3, 6), (3, 0, 6, 8), (4, 0, 7, 9)))
    assert lanes.gpu.tolist() == [0, 0, 0]
    assert holding(lanes, 3.0) == [(0, 1), (0, 2)]
    assert holding(lanes, 7.5) == [(0, 1), (0, 3), (0, 4)]


def test_stints_of_no_length_are_left_out():
    assert len(lanes_of(stints((1, 0, 4, 4))).gpu) == 0
    assert len(lanes_of(stints()).job) == 0


@pytest.mark.parametrize("seed", range(5))
def test_every_moment_is_as_the_stints_say(seed):
    rng = np.random.default_rng(seed)
    start = rng.integers(0, 50, 120)
    table = stints(*zip(range(120), rng.integers(0, 6, 120), start, start + rng.integers(0, 9, 120)))
    lanes = lanes_of(table)
    for time_s in (*range(60), 7.5):
        here = (table["start_s"] <= time_s) & (time_s < table["end_s"])
        assert holding(lanes, time_s) == sorted(zip(table["gpu"][here].tolist(), table["job"][here].tolist()))
