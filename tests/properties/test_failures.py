"""What holds in every run in which nodes fail, drain and come back, whatever the policies."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples
from support.invariants import gangs_are_whole, no_gpu_has_two_jobs_at_a_time
from support.same_results import same
from support.worlds import PLACEMENTS, SCHEDULERS, gpus_by_job, worlds

EXAMPLES = examples(150)
TIMES = st.one_of(
    st.sampled_from([0.0, 1.0, 300.0, 450.0, 600.0, 900.0, 1200.0]),
    st.floats(0, 6000).map(lambda t: round(t, 2)),
)
LENGTHS = st.one_of(
    st.sampled_from([1.0, 299.0, 300.0, 1500.0]), st.floats(0.5, 4000).map(lambda t: round(t, 2))
)
NOTICES = st.sampled_from([None, None, 0.0, 300.0, 700.0])


@st.composite
def outages(draw, nodes):
    """Outages that end: (node, down, up, notice; None: a failure)."""
    found = []
    for node in range(nodes):
        time_s = 0.0
        for gap, length, notice in draw(st.lists(st.tuples(TIMES, LENGTHS, NOTICES), max_size=4)):
            down = time_s + gap
            time_s = down + length
            found.append((node, down, time_s, notice))
    return found


@st.composite
def failing_worlds(draw, **options):
    options.setdefault("placements", (*PLACEMENTS, "fragments", "yarn", "tiresias"))
    options.setdefault(
        "schedulers",
        (*SCHEDULERS, "tiresias", "tiresias:index=gittins,promote=8", "ftf", "ftf:form=gavel", "themis"),
    )
    world = draw(worlds(**options))
    if world.placement == "yarn":  # a rack must hold every job: it has one here
        world = dataclasses.replace(world, performance="duration")
    savings = (world.overheads, "restart=20,checkpoint=250", "checkpoint=100,checkpoint_cost=9")
    planned = tuple(draw(outages(len(world.nodes))))
    return dataclasses.replace(
        world,
        outages=planned,
        failures=draw(st.sampled_from(["none", "job_mtbf=3h"])) if planned else "job_mtbf=3h",
        overheads=draw(st.sampled_from(savings)),
        round_s=300.0,
    )


@EXAMPLES
@given(failing_worlds())
def test_no_job_is_on_a_node_that_is_down_and_all_finish_once_failures_cease(world):
    result = world.run()
    assert (result.jobs["state"] == "finished").all()
    assert sorted(result.jobs["job_id"].tolist()) == sorted(job[0] for job in world.jobs)
    no_gpu_has_two_jobs_at_a_time(world, result)
    gangs_are_whole(world, result)
    nothing_runs_on_nodes_that_are_down(world, result)
    evictions_add_up(world, result)
    gpu_time_is_conserved(world, result)


@EXAMPLES
@given(failing_worlds(clocks=("rounds",)))
def test_skip_equals_no_skip_bit_for_bit(world):
    same(world.run(skip=True), world.run(skip=False))


def nothing_runs_on_nodes_that_are_down(world, result):
    node_of = np.repeat(np.arange(len(world.nodes)), world.nodes)
    stints = result.stints
    for node, down, up, ahead in world.outages:
        here = node_of[stints["gpu"]] == node
        start, end = stints["start_s"][here], stints["end_s"][here]
        assert not ((start < up) & (end > down)).any(), "a job was on a node that is down"
        if ahead:
            assert not ((start >= down - ahead) & (start < up)).any(), "a job started on a draining node"


def evictions_add_up(world, result):
    jobs, summary = result.jobs, result.summary
    assert summary["evictions"] == jobs["evictions"].sum()
    assert summary["evicted_jobs"] == (jobs["evictions"] > 0).sum()
    pieces = np.zeros(len(jobs["gpus"]))
    for job, _, _ in gpus_by_job(result):
        pieces[job] += 1
    np.testing.assert_array_equal(pieces, 1 + jobs["preemptions"] + jobs["moves"] + jobs["evictions"])


def gpu_time_is_conserved(world, result):
    """What a job holds is useful, lost, or goes to starting and saving."""
    jobs = result.jobs
    useful, lost, held = (jobs[name] for name in ("useful_gpu_seconds", "lost_gpu_seconds", "gpu_seconds"))
    assert (useful >= 0).all() and (lost >= 0).all()
    assert (useful + lost <= held * (1 + 1e-12) + 1e-6).all()
    if world.performance == "duration" or world.placement == "count":
        work = {job[0]: job[2] * job[3] for job in world.jobs}
        needed = [work[name] for name in jobs["job_id"].tolist()]
        np.testing.assert_allclose(useful, needed, rtol=1e-9, atol=1e-6)
