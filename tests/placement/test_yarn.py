"""Where `yarn` puts jobs on nodes of two sizes, worked out by hand: it goes by the nodes of a job's types."""

import numpy as np
import pytest

from blox import Experiment, Schedule
from blox.placement.yarn import Yarn
from support.states import admitted, idle_cluster
from support.traces import HEADER, trace

MIXED = "v100=1x8,k80=3x4"  # node 0 has 8 GPUs, nodes 1 to 3 have 4


def places(jobs, cluster=MIXED, down=()):
    """Job -> node -> GPUs, for jobs of (GPUs, type) in order of their arrival; "": any type."""
    job_state = admitted([gpus for gpus, _ in jobs], gpu_types=[kind for _, kind in jobs])
    cluster_state = idle_cluster(cluster)
    for node in down:
        cluster_state.set_node(node, "down")
    schedule = Schedule.ordered(job_state, by=np.zeros(len(jobs)))
    plan = Yarn().place(schedule, cluster_state, job_state)
    found = {}
    for row, gpus in plan.outcome(cluster_state.allocation).as_dict().items():
        nodes = cluster_state.gpu_node[list(gpus)].tolist()
        found[row] = {node: nodes.count(node) for node in nodes}
    return found


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ([(6, "k80")], {0: {1: 4, 2: 2}}),  # more than any of its nodes has, less than node 0
        ([(8, "k80")], {0: {1: 4, 2: 4}}),
        ([(1, "k80"), (6, "k80")], {0: {1: 1}, 1: {2: 4, 1: 2}}),
        ([(3, "k80"), (3, "k80"), (3, "k80"), (2, "k80")], {0: {1: 3}, 1: {2: 3}, 2: {3: 3}}),  # 2 fit on one
        ([(6, "v100"), (6, "v100")], {0: {0: 6}}),
        ([(6, "v100|k80"), (6, "v100|k80")], {0: {0: 6}}),  # it fits on a node of its own, and waits for it
        ([(6, "k80"), (6, "")], {0: {1: 4, 2: 2}, 1: {0: 6}}),
        ([(12, "k80")], {0: {1: 4, 2: 4, 3: 4}}),
        ([(13, "k80")], {}),
    ],
)
def test_what_is_whole_goes_by_the_nodes_that_a_job_may_use(jobs, expected):
    assert places(jobs) == expected


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ([(6, "k80")], {0: {3: 4, 4: 2}}),
        ([(12, "k80"), (12, "v100")], {0: {3: 4, 4: 4, 5: 4}, 1: {0: 8, 1: 4}}),
        ([(13, "k80")], {}),
    ],
)
def test_a_rack_without_nodes_for_a_job_is_passed_over(jobs, expected):
    assert places(jobs, "v100=3x8,k80=3x4:racks=2") == expected


def test_a_rack_with_one_node_for_a_job_is_filled_first():
    """Node 2 is under the switch of the two larger nodes: a job of 4 fits there, larger ones do not."""
    jobs = [(6, "k80"), (4, "k80"), (5, "k80")]
    assert places(jobs, "v100=2x8,k80=4x4:racks=2") == {0: {3: 4, 4: 2}, 1: {2: 4}, 2: {5: 4, 4: 1}}


def test_a_job_waits_for_a_node_that_is_down():
    assert places([(6, "")], down=[0]) == {}
    assert places([(6, "k80")], down=[1]) == {0: {2: 4, 3: 2}}
    assert places([(3, "k80"), (6, "k80")], down=[1, 2]) == {0: {3: 3}}


@pytest.mark.parametrize("scheduler", ["fifo", "las", "backfill", "backfill:kind=conservative"])
def test_a_run_with_such_jobs_ends(scheduler, tmp_path):
    jobs = "a,0,4,1000,k80 b,0,6,1000,k80 c,0,6,1000, d,0,10,1000,k80"
    workload = trace(tmp_path / "jobs.csv", jobs, header=f"{HEADER},gpu_types")
    result = Experiment(workload=workload, cluster=MIXED, scheduler=scheduler, placement="yarn").run()
    assert {*result.jobs["state"].tolist()} == {"finished"}
