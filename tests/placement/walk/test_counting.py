"""The rule by which counting decides which jobs run stands in two forms: for arrays, and one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blox.placement.walk.counting import first_come, first_fit
from support.states import admitted

JOBS = st.lists(st.tuples(st.integers(1, 8), st.booleans()), min_size=1, max_size=40)


@given(JOBS, st.integers(0, 60), st.randoms(use_true_random=False))
def test_both_forms_choose_the_same_jobs(jobs, capacity, shuffle):
    """`jobs`: GPUs that each asks for, and whether it runs."""
    need, runs = (np.array(column) for column in zip(*jobs))
    line = list(range(len(jobs)))
    shuffle.shuffle(line)
    job_state = admitted(need)
    job_state.columns.held_gpus[: len(jobs)] = np.where(runs, need, 0)
    winners, others = first_come(np.array(line), need, capacity, strict=False)
    starting, leaving = first_fit(line, capacity, job_state)
    assert starting == winners[~runs[winners]].tolist()
    assert leaving == others[runs[others]].tolist()
