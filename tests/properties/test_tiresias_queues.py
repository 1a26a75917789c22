"""What holds for Tiresias in every run: its queues, the order within, and what it comes down to."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blox import Schedule
from blox.schedulers.gittins import GittinsIndex
from blox.schedulers.las import Las
from blox.schedulers.tiresias.policy import Tiresias
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec, Node
from blox.state.plan import NO_ROWS
from support.examples import examples
from support.runs import run_with
from support.same_results import same
from support.states import admitted
from support.worlds import World, jobs_for, worlds

SPECS = (
    "tiresias",
    "tiresias:queues=1",
    "tiresias:queues=2,threshold=600",
    "tiresias:queues=4,threshold=150+600+2400",
    "tiresias:queues=3,threshold=300+900,promote=0.5",
    "tiresias:queues=2,threshold=450,promote=2",
    "tiresias:index=gittins",
    "tiresias:index=gittins,queues=1",
    "tiresias:index=gittins,queues=3,threshold=300+1200,promote=1",
)


@examples(200)
@given(worlds(clocks=("rounds",), schedulers=SPECS))
def test_skip_equals_no_skip_bit_for_bit(world):
    same(world.run(skip=True), world.run(skip=False))


def queues_by_definition(job_state, thresholds):
    """The queue of each active job that was never promoted: how many thresholds its GPU time has reached."""
    return np.searchsorted(np.array(thresholds) * (1 - 1e-12), job_state.gpu_seconds(), side="right")


def watched(world, policy, look):
    """Runs a world and calls `look(job_state, schedule)` after every decision of the policy."""

    @dataclasses.dataclass(frozen=True)
    class Watched:
        def schedule(self, job_state, cluster_state):
            schedule = policy.schedule(job_state, cluster_state)
            look(job_state, schedule)
            return schedule

        def stable_until(self, job_state, cluster_state):
            return policy.stable_until(job_state, cluster_state)

    return run_with(dataclasses.replace(world, scheduler="fifo").experiment(), scheduler=Watched())


@examples(60)
@given(worlds(), st.sampled_from([(), (600.0,), (150.0, 600.0, 2400.0)]))
def test_queues_are_those_of_the_definition_and_fifo_by_start_within(world, thresholds):
    policy = Tiresias(queues=len(thresholds) + 1, threshold=thresholds)
    last = {}

    def look(job_state, schedule):
        rows = schedule.jobs[schedule.order]
        queue = dict(zip(job_state.active.tolist(), queues_by_definition(job_state, thresholds).tolist()))
        start = job_state.columns.first_start_s
        keys = [
            (queue[row], math.inf if math.isnan(start[row]) else start[row], row) for row in rows.tolist()
        ]
        assert keys == sorted(keys), "by queue, then by first start, then by submission"
        assert all(queue[row] >= last.get(row, 0) for row in queue), "nobody moves up"
        last.update(queue)

    watched(world, policy, look)


@examples(60)
@given(worlds(), st.sampled_from([0.5, 1.0, 3.0]))
def test_a_job_moves_up_only_by_promotion(world, knob):
    policy = Tiresias(queues=3, threshold=(300.0, 1200.0), promote=knob)
    last, counts = {}, {}

    def look(job_state, schedule):
        standings = job_state.memory(policy, policy._memory).standings
        c = job_state.columns
        for row in job_state.active.tolist():
            level, promotions = int(standings.level[row]), int(standings.promotions[row])
            if promotions > counts.get(row, 0):
                assert level == 0 and promotions == counts.get(row, 0) + 1
                assert c.held_gpus[row] == 0 and last[row] > 0, "who runs, or is in the first queue, stays"
            else:
                assert level >= last.get(row, 0), "nobody moves up without being promoted"
            last[row], counts[row] = level, promotions

    result = watched(world, policy, look)
    assert (result.jobs["state"] == "finished").all()


@examples(80)
@given(worlds(schedulers=("fifo",), placements=("count",)))
def test_one_queue_is_fifo(world):
    """With one queue nobody is displaced: first come, first served, passing over who does not fit."""
    ours = dataclasses.replace(world, scheduler="tiresias:queues=1").run()
    fifo = dataclasses.replace(world, scheduler="fifo:strict=false").run()
    for name in ("first_start_s", "finish_s", "preemptions"):
        np.testing.assert_array_equal(ours.jobs[name], fifo.jobs[name], err_msg=name)


@st.composite
def moments(draw):
    """A table of jobs of which some run, some wait and some have never run."""
    gpus = draw(st.lists(st.sampled_from([1, 2, 4, 8]), min_size=2, max_size=12))
    ran = draw(
        st.lists(
            st.floats(0, 5000).map(lambda s: round(s, 1)), min_size=len(gpus), max_size=len(gpus), unique=True
        )
    )
    return gpus, ran


def state_of(gpus, ran, size_s):
    """A state in which every job waits, and job i has run for ran[i] seconds."""
    count = len(gpus)
    state = admitted(gpus, np.asarray(size_s) / np.array(gpus))
    state.just_admitted = NO_ROWS
    cluster = ClusterState(ClusterSpec((Node("all", int(sum(gpus))),)))
    c = state.columns
    c.first_start_s[:count] = np.where(np.array(ran) > 0, 0.0, np.nan)
    c.run0[:count] = ran
    c.held0[:count] = np.array(ran) * np.array(gpus)
    state.now = 6000.0
    return state, cluster


@examples(100)
@given(moments())
def test_many_fine_queues_approach_las(moment):
    """With queues of 1 GPU-second, the order is that of least attained service but for jobs within one."""
    gpus, ran = moment
    fine = Tiresias(queues=50_001, threshold=tuple(np.arange(1.0, 50_001.0)))
    state, cluster = state_of(gpus, ran, [1e6] * len(gpus))
    ours = fine.schedule(state, cluster)
    service = state.gpu_seconds()[ours.order]
    assert (np.floor(service[1:]) >= np.floor(service[:-1])).all()
    las = Las().schedule(state, cluster)
    np.testing.assert_allclose(service, state.gpu_seconds()[las.order], atol=1.0)


@examples(20)
@given(st.data())
def test_runs_with_fine_queues_come_near_las(data):
    """Average JCT with 300 queues of 50 GPU-seconds is that of LAS within a round or so per job."""
    jobs = data.draw(jobs_for(4, most=8))
    world = World(jobs, (4,), placement="count", round_s=60.0)
    steps = "+".join(str(50 * i) for i in range(1, 300))
    fine = dataclasses.replace(world, scheduler=f"tiresias:queues=300,threshold={steps}").run()
    las = dataclasses.replace(world, scheduler="las").run()
    one = dataclasses.replace(world, scheduler="tiresias:queues=1").run()
    gap = abs(fine.summary["avg_jct_s"] - las.summary["avg_jct_s"])
    apart = abs(one.summary["avg_jct_s"] - las.summary["avg_jct_s"])
    assert gap <= max(apart, 0.25 * las.summary["avg_jct_s"]) + 60.0


def order_by_index(samples, gpus, ran, size_s, tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("duration\n" + "".join(f"{each!r}\n" for each in samples))
    policy = Tiresias(queues=1, threshold=(), index="gittins", distribution=str(path))
    state, cluster = state_of(gpus, ran, size_s)
    schedule: Schedule = policy.schedule(state, cluster)
    return state, schedule.jobs[schedule.order]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sizes")


@examples(60)
@given(moments())
def test_gittins_is_srpt_when_all_jobs_are_of_one_size(folder, moment):
    """A point mass at 50,000 GPU-seconds: the least that is left, in GPU time, goes first."""
    gpus, ran = moment
    size = 50_000.0
    state, rows = order_by_index([size] * 3, gpus, ran, [size] * len(gpus), folder)
    left = size - state.gpu_seconds()[rows]
    assert (np.diff(left) >= -1e-6).all()


@pytest.mark.slow
@examples(60)
@given(moments())
def test_gittins_is_las_when_the_hazard_rate_falls(folder, moment):
    """Sizes at multiples of 400 GPU-seconds; who comes to the k-th ends there with probability 1/(k + 1)."""
    gpus, ran = moment
    ran = [400.0 * (s % 11 // 1) / n for s, n in zip(ran, gpus)]  # whole steps
    survivors = [27720 // (k + 1) for k in range(12)]  # exact: 27720 is a multiple of 1 to 12
    counts = [*(-np.diff(survivors)), survivors[-1]]
    sizes = np.repeat([*(400.0 * (k + 1) for k in range(11)), 1e12], counts)
    state, rows = order_by_index(sizes.tolist(), gpus, ran, [1e6] * len(gpus), folder)
    assert (np.diff(state.gpu_seconds()[rows]) >= 0).all()


@examples(100)
@given(
    st.lists(st.floats(1, 1000), min_size=1, max_size=30),
    st.floats(0, 1100),
)
def test_the_index_is_the_supremum_over_quanta(samples, attained):
    above = [s - attained for s in samples if s > attained]
    index = float(GittinsIndex(np.array(samples))(np.array([attained]))[0])
    if not above:
        assert index == 0
        return
    quanta = sorted({*above, *(q * f for q in above for f in (0.5, 0.99, 1.01))})
    best = max(sum(s <= q for s in above) / sum(min(s, q) for s in above) for q in quanta)
    assert index == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("scheduler", ["tiresias", "promote:policy=tiresias,after_s=1e9"])
def test_a_demotion_waits_for_nothing(run, scheduler):
    """It comes 0.3 s after a submission, and the GPUs go to who waits in the first queue there and then."""
    jobs = run("long,0,4,5000 short,799.7,4,100", scheduler=scheduler, placement="count", clock="events").jobs
    assert jobs["first_start_s"].tolist() == [0.0, 800.0], "4 GPUs for 800 s are the threshold of 3200 GPU-s"
    assert jobs["finish_s"].tolist() == [5100.0, 900.0]


def test_finished_jobs_are_learnt_from():
    policy = Tiresias(queues=1, threshold=(), index="gittins")
    state, cluster = state_of([1, 1, 1, 1], [100.0, 200.0, 50.0, 0.0], [1e6] * 4)
    before = policy.schedule(state, cluster)
    assert state.active[before.order].tolist() == [0, 1, 2, 3], "nothing is known: by start"
    state.finish(np.array([0]), state.now)
    after = policy.schedule(state, cluster)
    assert state.active[after.order].tolist() == [2, 3, 1], "who is near the 100 s that are known goes first"
