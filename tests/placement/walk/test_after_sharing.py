"""A walk that comes after jobs have shared GPUs places them anew, each on GPUs of its own."""

import numpy as np
import pytest

from blox import Schedule
from blox.placement.consolidated import Consolidated
from blox.placement.first_free import FirstFree
from blox.state.plan import Allocation
from support.states import admitted, idle_cluster


@pytest.mark.parametrize("placement", [FirstFree(), Consolidated()], ids=["first-free", "consolidated"])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
def test_jobs_that_shared_gpus_have_their_own_or_none(placement, order):
    job_state, cluster_state = admitted([1, 1, 1, 2]), idle_cluster("2x2")
    pair = Allocation(
        np.array([0, 1, 2]), np.array([1, 1, 1]), np.array([0, 0, 3]), share_group=np.array([1, 0, -1])
    )
    job_state.start(pair.jobs, pair.counts, 1.0, 0.0)
    cluster_state.holdings.replace(pair)
    by = np.argsort(order).astype(np.float64)
    plan = placement.place(Schedule(job_state.active, (by,)), cluster_state, job_state)
    cluster_state.holdings.apply(plan)
    held = cluster_state.allocation
    assert len(set(held.gpus.tolist())) == len(held.gpus) == cluster_state.holdings.used
    assert set(order[:3]) == set(held.jobs.tolist()), "the first three in line take all four GPUs, or three"
    assert held.as_dict().get(2, (3,)) == (3,), "a job that shared nothing stays where it is"
