"""Ends knows which job ends next, however many start and stop, and whether or not it keeps a heap."""

import math

import numpy as np
import pytest

from blox.backends.ends import Ends
from blox.state.columns import SCALAR_MAX
from support.states import admitted

JOBS = 400


@pytest.mark.parametrize("most", [1, 3, 40])
@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_a_scan_of_all_running_jobs(seed, most):
    """`most`: how many start or stop at a time; few go into the heap one by one, many void it."""
    rng = np.random.default_rng(seed)
    job_state, ends, running = admitted([1] * JOBS), Ends(), {}
    ends.grow(JOBS)
    held, over = job_state.columns.held_gpus, 0

    for _ in range(600):
        idle = np.flatnonzero(held[:JOBS] == 0)
        come = rng.choice(idle, min(len(idle), rng.integers(0, most + 1)), replace=False)
        at = job_state.now + rng.integers(1, 400, len(come)).astype(float)
        if most <= SCALAR_MAX:
            for row, end in zip(come.tolist(), at.tolist()):
                ends.put_one(row, end)
        else:
            ends.put(come, at)
        running.update(zip(come.tolist(), at.tolist()))
        held[come] = 1
        if running and rng.random() < 0.5:
            go = rng.choice(list(running), min(len(running), rng.integers(1, most + 1)), replace=False)
            held[go] = 0
            for row in go.tolist():
                del running[row]
        earliest = min(running.values(), default=math.inf)
        assert ends.next(job_state) == earliest
        if earliest == math.inf:
            continue
        job_state.now = earliest if rng.random() < 0.8 else earliest + 20.0
        rows, times = ends.due(job_state)
        expected = sorted(row for row, end in running.items() if end <= job_state.now)
        assert rows.tolist() == expected
        assert np.atleast_1d(times).tolist() == [running[row] for row in expected]
        for row in expected:
            del running[row]
        held[rows] = 0
        over += len(rows)
    assert over > 100


def test_jobs_are_drained_in_order_of_time_and_may_get_another_end_meanwhile():
    job_state, ends = admitted([1] * 3), Ends()
    ends.grow(3)
    job_state.columns.held_gpus[:3] = 1
    ends.put(np.arange(3), np.array([30.0, 10.0, 20.0]))
    found = []
    job_state.now = 25.0
    for row, end in ends.drain(job_state):
        found.append((row, end))
        if end == 10.0:
            ends.put_one(row, 25.0)
    assert found == [(1, 10.0), (2, 20.0), (1, 25.0)]
    assert ends.next(job_state) == 30.0
