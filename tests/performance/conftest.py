"""What tests of performance models share: the rates of jobs that hold given GPUs."""

import numpy as np
import pytest

from blox.state.cluster import ClusterState
from blox.state.plan import Allocation
from support.states import admitted, idle_cluster


@pytest.fixture
def rates():
    """A function that gives the rate of each of some jobs of one model, from the GPUs that each holds."""

    def find(performance, held, cluster, name="big"):
        cluster = cluster if isinstance(cluster, ClusterState) else idle_cluster(cluster)
        job_state = admitted([len(gpus) for gpus in held], model=[name] * len(held))
        found = performance.rate(Allocation.from_dict(dict(enumerate(held))), cluster, job_state)
        return np.broadcast_to(found, len(held)).tolist()

    return find
