"""The preset's queues equal a slow replay of the original's rules, on workloads full of ties."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blox import Experiment
from support.examples import examples
from support.tiresias_replay import replay

SCHEDULES = {"dlas": 0.0, "dlas-gpu": 0.0, "dlas-gpu-05": 0.5, "dlas-gpu-1": 1.0, "dlas-gpu-4": 4.0}


@st.composite
def traces(draw):
    """(submit, GPUs, duration), on a grid so that submissions, ends and demotions coincide."""
    grid = draw(st.sampled_from([1, 10, 50, 300]))
    gaps = st.sampled_from([0, 0, 1, 2, 5, 15])
    jobs = draw(
        st.lists(
            st.tuples(gaps, st.sampled_from([1, 2, 3, 4, 8, 16]), st.integers(1, 60)), min_size=1, max_size=30
        )
    )
    submit = np.cumsum([gap for gap, _, _ in jobs]) * grid
    return [(int(at), gpus, grid * length) for at, (_, gpus, length) in zip(submit, jobs)]


@examples(150)
@given(
    jobs=traces(),
    schedule=st.sampled_from(sorted(SCHEDULES)),
    limits=st.sampled_from([(), (300,), (3250, 7200), (500, 500), (100, 900, 2700)]),
)
def test_the_preset_equals_the_replay(tmp_path_factory, jobs, schedule, limits):
    path = tmp_path_factory.getbasetemp() / "replayed.csv"
    lines = [f"{row},{gpus},{submit},{length}\n" for row, (submit, gpus, length) in enumerate(jobs)]
    path.write_text("job_id,num_gpu,submit_time,duration\n" + "".join(lines))
    given_limits = f"num_queue={len(limits) + 1},queue_limit={'+'.join(map(str, limits or (1,)))}"
    ours = (
        Experiment(
            workload=f"tiresias:{path}",
            cluster="2x8",
            compat=f"tiresias:schedule={schedule},scheme=count,{given_limits}",
        )
        .run()
        .jobs
    )
    theirs = replay(jobs, 16, limits, by_gpu=schedule != "dlas", promote=SCHEDULES[schedule])
    columns = ("first_start_s", "finish_s", "preemptions", "promotions")
    found = list(zip(*(ours[name].tolist() for name in columns)))
    assert found == [(job.start, job.end, job.preemptions, job.promotions) for job in theirs]
