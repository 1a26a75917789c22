"""Who is active is listed when somebody asks, and then rightly, whatever happened in between."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blox.state.columns import FINISHED
from support.examples import examples
from support.states import staged

JOBS = 60


@examples(200)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), max_size=20), st.randoms())
def test_the_active_are_who_came_and_has_not_finished(steps, random):
    """Each step: how many come, in any order, how many finish, and whether somebody asks."""
    job_state, plain, left = staged([1] * JOBS), [], list(range(JOBS))
    job_state.submit(JOBS)
    for come, go, asks in steps:
        new = sorted(random.sample(left, min(come, len(left))))
        left = [row for row in left if row not in new]
        job_state.add_new_jobs(np.array(new, dtype=np.int64))
        plain = sorted(plain + new)
        gone = random.sample(plain, min(go, len(plain)))
        if gone:
            job_state.finish(np.array(gone), 1.0)
        plain = [row for row in plain if row not in gone]
        assert job_state.active_count == len(plain)
        if asks:
            assert job_state.active.tolist() == plain
            assert job_state.active is job_state.active, "the same array until somebody comes or goes"
    assert job_state.active.tolist() == plain
    assert job_state.fork().active.tolist() == plain


def test_an_array_that_was_given_out_stays_as_it_was():
    job_state = staged([1] * JOBS)
    job_state.submit(JOBS)
    job_state.add_new_jobs(np.array([3, 5, 8]))
    before = job_state.active
    job_state.add_new_jobs(np.array([9]))
    assert job_state.active.tolist() == [3, 5, 8, 9]
    job_state.finish(np.array([5]), 2.0)
    assert job_state.active.tolist() == [3, 8, 9]
    assert before.tolist() == [3, 5, 8]


def test_cells_and_columns_are_the_same_numbers():
    job_state = staged([1] * JOBS)
    job_state.submit(JOBS)
    job_state.add_new_jobs(np.array([4]))
    job_state.start(np.array([4]), np.array([2]), 0.5, 3.0)
    assert (job_state.scalars.held_gpus[4], job_state.scalars.rate[4], job_state.scalars.anchor[4]) == (
        2,
        0.5,
        3.0,
    )
    assert job_state.columns.held_gpus[4] == 2
    job_state.columns.held_gpus[4] = 7
    assert job_state.scalars.held_gpus[4] == 7
    job_state.finish(np.array([4]), 9.0)
    assert job_state.columns.status[4] == FINISHED
    twin = job_state.fork()
    twin.scalars.gpus[4] = 5
    assert job_state.columns.gpus[4] == 1, "a fork has columns of its own"
