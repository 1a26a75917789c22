"""The preset of Blox equals a slow replay of the original's rules, on workloads full of ties."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blox import Experiment
from support.blox_replay import replay
from support.examples import examples
from support.traces import trace

HEADER = "job_id,arrival_s,num_gpus,total_iterations,iteration_time_s,duration_s"
JOBS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 1, 299, 300, 450, 1200]),  # seconds since the job before
        st.sampled_from([1, 1, 2, 3, 4, 6]),
        st.sampled_from([1, 299, 300, 301, 900, 1500.5, 4000]),
    ),
    min_size=1,
    max_size=25,
)


@examples(150)
@given(
    jobs=JOBS,
    policy=st.sampled_from(["Fifo", "Las", "Srtf", "Tiresias", "Optimus"]),
    fixed=st.booleans(),
    accept=st.sampled_from([None, None, 0.5, 1.2]),
    load=st.sampled_from([1, 4, 8]),
    most=st.sampled_from([5, 40]),
)
def test_the_preset_equals_the_replay(tmp_path_factory, jobs, policy, fixed, accept, load, most):
    arrival = np.cumsum([gap for gap, _, _ in jobs]).tolist()
    rows = [(i, at, gpus, work, 1) for i, (at, (_, gpus, work)) in enumerate(zip(arrival, jobs))]
    path = trace(tmp_path_factory.getbasetemp() / "blox.csv", [(*row, row[3]) for row in rows], header=HEADER)
    options = f"policy={policy},placement={'fixed' if fixed else 'asis'},load={load}"
    result = Experiment(
        workload=f"blox:{path}",
        cluster="2x4",
        compat=f"blox:{options}" + (f",accept={accept}" if accept else ""),
        max_rounds=most,
    ).run()
    ended = replay(
        rows, 2, 4, policy, fixed=fixed, accept=accept, load=load, tracked=(0, len(jobs) - 1), max_rounds=most
    )
    seen = len(result.jobs["job_id"])
    assert not any(job.credited for job in ended[seen:]), "jobs that had not come when the run was cut off"
    ended = ended[:seen]
    for column, theirs in {
        "finish_s": [math.nan if job.completion is None else job.completion for job in ended],
        "responsiveness_s": [job.responsiveness if job.credited else math.nan for job in ended],
        "preemptions": [job.preemptions for job in ended],
    }.items():
        np.testing.assert_array_equal(result.jobs[column], theirs, err_msg=column)
