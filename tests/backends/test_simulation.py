"""Simulations that go on from states which another backend has brought there."""

import math

import numpy as np
import pytest

from blox.backends.feed import JobFeed
from blox.backends.setup import BackendSetup
from blox.backends.simulation import Simulation
from blox.performance.duration import Duration
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import JobTable


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [3, 12], ids=["one by one", "as arrays"])
def test_a_running_job_without_a_rate_does_not_end(count):
    """A job that is launching on a cluster holds its GPU at rate 0: all but the last one here."""
    jobs = JobTable.build(
        {
            "job_id": [f"job-{row}" for row in range(count)],
            "submit_s": np.zeros(count),
            "gpus": np.ones(count, dtype=np.int64),
            "duration_s": np.full(count, 100.0),
        },
        source="test",
    )
    job_state, cluster_state = JobState(), ClusterState(cluster_from_spec(f"1x{count}"))
    job_state.stage(jobs, jobs.columns["duration_s"])
    job_state.submit(count)
    job_state.add_new_jobs(job_state.waiting)
    rate = np.zeros(count)
    rate[-1] = 2.0
    job_state.start(np.arange(count), np.ones(count, dtype=np.int64), rate, 0.0)
    job_state.columns.done0[0] = 100.0
    cluster_state.holdings.replace(Allocation.from_dict({row: (row,) for row in range(count)}))
    backend = Simulation(BackendSetup(JobFeed(iter(()), count, lambda batch: batch), Duration()))
    backend.resume(jobs, cluster_state, job_state)
    backend.submit(job_state)
    assert backend.next_event(cluster_state, job_state) == 50.0
    job_state.now = 50.0
    rows, _ = backend.completed(cluster_state, job_state)
    assert rows.tolist() == [count - 1]
    job_state.stop(rows, 50.0)
    cluster_state.holdings.release(rows)
    assert backend.next_event(cluster_state, job_state) == math.inf
