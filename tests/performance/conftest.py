"""What tests of performance models share: the rates of jobs that hold given GPUs."""

import numpy as np
import pytest

from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import JobTable


@pytest.fixture
def rates():
    """A function that gives the rate of each of some jobs of one model, from the GPUs that each holds."""

    def find(performance, held, cluster, name="big"):
        cluster = cluster if isinstance(cluster, ClusterState) else ClusterState(cluster_from_spec(cluster))
        columns = {
            "job_id": [str(i) for i in range(len(held))],
            "submit_s": np.zeros(len(held)),
            "gpus": np.array([len(gpus) for gpus in held]),
            "duration_s": np.ones(len(held)),
            "model": np.array([name] * len(held), dtype=object),
        }
        job_state = JobState()
        job_state.stage(JobTable.build(columns, source="test"), np.ones(len(held)))
        job_state.submit(len(held))
        found = performance.rate(Allocation.from_dict(dict(enumerate(held))), cluster, job_state)
        return np.broadcast_to(found, len(held)).tolist()

    return find
