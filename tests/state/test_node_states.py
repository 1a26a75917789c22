"""Nodes that are up, draining or down: what a cluster has to give."""

import numpy as np
import pytest

from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.state.plan import Allocation


@pytest.fixture
def cluster():
    """Three nodes of 4 GPUs: job 0 has two of the first, job 1 one of the first and all of the second."""
    state = ClusterState(cluster_from_spec("3x4"))
    state.holdings.replace(Allocation.from_dict({0: (0, 1), 1: (2, 4, 5, 6, 7)}))
    return state


def test_a_node_that_goes_down_names_its_jobs(cluster):
    assert cluster.set_node(0, "down").tolist() == [0, 1]
    assert cluster.set_node(2, "down").tolist() == []
    assert (cluster.node_state(0), cluster.node_up.tolist()) == ("down", [False, True, False])


def test_a_node_in_the_state_it_is_in_changes_nothing(cluster):
    cluster.promised_until = 5.0
    assert cluster.set_node(0, "up").tolist() == []
    assert cluster.promised_until == 5.0


def test_a_draining_node_keeps_its_jobs_and_gives_nothing(cluster):
    assert cluster.set_node(0, "draining").tolist() == []
    assert cluster.draining
    assert cluster.free_ids().tolist() == [8, 9, 10, 11]
    assert cluster.free_ids()[:2].tolist() == [8, 9]
    assert cluster.node_free.tolist() == [0, 0, 4]
    assert (cluster.total_gpus, cluster.draining_gpus, cluster.free_gpus) == (8, 3, 4)
    assert cluster.fragmentation() == 0.0


def test_what_is_given_back_on_a_draining_node_is_gone(cluster):
    cluster.set_node(0, "draining")
    cluster.holdings.release(np.array([0]))
    assert (cluster.draining_gpus, cluster.free_gpus) == (1, 4)
    cluster.holdings.replace(Allocation())
    assert (cluster.draining_gpus, cluster.free_gpus) == (0, 8)
    assert cluster.set_node(0, "down").tolist() == []
    assert cluster.set_node(0, "up").tolist() == []
    assert (cluster.total_gpus, cluster.draining) == (12, False)


def test_a_fork_has_its_own_nodes(cluster):
    cluster.set_node(1, "draining")
    twin = cluster.fork()
    twin.set_node(1, "down")
    twin.set_node(2, "draining")
    assert [cluster.node_state(node) for node in range(3)] == ["up", "draining", "up"]
    assert [twin.node_state(node) for node in range(3)] == ["up", "down", "draining"]
