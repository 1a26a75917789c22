"""What nodes have beside GPUs: columns that policies may use."""

import pytest

from blox.errors import BloxError
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec


def test_cores_memory_and_storage_stand_in_columns():
    state = ClusterState(cluster_from_spec("2x8:cpu=24,memory_gb=500,storage_gbps=4,network_gbps=40,racks=2"))
    assert state.node_cpu.tolist() == [24, 24] and state.node_memory_gb.tolist() == [500, 500]
    assert state.node_storage_gbps.tolist() == [4, 4] and state.spec.network_gbps == 40
    assert state.node_rack.tolist() == [0, 1]


def test_a_file_says_so_too(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text("[[nodes]]\ncount = 2\ngpus = 4\ncpu = 12\nmemory_gb = 250\nstorage_gbps = 2.5\n")
    state = ClusterState(cluster_from_spec(str(path)))
    assert state.node_storage_gbps.tolist() == [2.5, 2.5]


def test_a_misspelt_one_is_told():
    with pytest.raises(BloxError, match="storage_gbp"):
        cluster_from_spec("2x8:storage_gbp=4")
