"""Jobs that run on another number of GPUs than they ask for, and policies that know nothing of it."""

import numpy as np

from blox.placement.first_free import FirstFree
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.state.plan import Allocation
from blox.state.schedule import Schedule
from support.states import admitted, placed


def test_run_time_counts_seconds_not_gpus():
    """All jobs ask for one GPU, and one of them runs on two."""
    jobs = admitted([1, 1])
    jobs.start(np.array([0, 1]), np.array([2, 1]), 1.0, 0.0)
    jobs.now = 10.0
    assert jobs.resized
    assert jobs.run_s().tolist() == [10.0, 10.0]
    assert jobs.gpu_seconds().tolist() == [20.0, 10.0]


def test_a_rigid_schedule_gives_a_resized_job_the_gpus_that_it_asks_for():
    """Four GPUs, all held by one job that asks for two: it is placed anew, and the other two jobs start."""
    jobs, cluster = admitted([2, 1, 1]), ClusterState(cluster_from_spec("1x4"))
    now = Allocation.from_dict({0: (0, 1, 2, 3)})
    jobs.start(now.jobs, now.counts, 1.0, 0.0)
    cluster.holdings.replace(now)
    plan = FirstFree().place(Schedule.ordered(jobs, by=np.arange(3)), cluster, jobs)
    assert placed(plan, cluster).as_dict() == {0: (0, 1), 1: (2,), 2: (3,)}
