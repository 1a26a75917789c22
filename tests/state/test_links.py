"""Bandwidths between the GPUs of a node: known machines, files, and the GPUs that go well together."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blox.errors import BloxError
from blox.state.cluster_spec import cluster_from_spec
from blox.state.links import best_subset, links_from, machines, mean_gbps, total_gbps
from support.examples import examples

TOPOLOGY = """\
\t\x1b[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m
GPU0\t X \tNV2\tSYS\tPIX\t0-55,112-167\t0
GPU1\tNV2\t X \tPHB\tSYS\t0-55,112-167\t0
GPU2\tSYS\tPHB\t X \tSYS\t56-111\t1
NIC0\tPIX\tSYS\tSYS\t X

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
"""


def test_known_machines_are_symmetric_and_as_their_sources_say():
    assert {*machines()} == {"p3.8xlarge", "p3.16xlarge", "dgx-1", "dgx-a100"}
    for name, (links, _) in machines().items():
        assert all(links[i][i] == 0 for i in range(len(links)))
        assert all(links[i][j] == links[j][i] > 0 for i, j in itertools.combinations(range(len(links)), 2)), (
            name
        )
    small, large = machines()["p3.8xlarge"].links, machines()["dgx-1"].links
    assert small[0][3] == 2 * small[0][1], "the paper, section 5.3"
    assert tuple(row[:4] for row in large[:4]) == small
    nvlinks = [sum(gbps // 200 for gbps in row if gbps >= 200) for row in large]
    assert nvlinks == [6] * 8, "a V100 has six links"
    assert {gbps for row in machines()["dgx-a100"].links for gbps in row} == {0.0, 2400.0}


def test_the_output_of_nvidia_smi_is_read(tmp_path):
    (tmp_path / "topo.txt").write_text(TOPOLOGY)
    assert links_from(str(tmp_path / "topo.txt"), where="test") == ((0, 400, 48), (400, 0, 80), (48, 80, 0))
    spec = cluster_from_spec(f"v100=2x3:links={tmp_path / 'topo.txt'}")
    assert spec.links["v100"][0][1] == 400.0


def test_a_matrix_of_numbers_is_read(tmp_path):
    (tmp_path / "links.csv").write_text("# Gb/s\n0,10\n10,0\n")
    assert links_from(str(tmp_path / "links.csv"), where="test") == ((0.0, 10.0), (10.0, 0.0))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("2x4:links=p3.16xlarge", "links of 8 GPUs, and nodes have 4"),
        ("2x4:links=p3.8", "no machine or file is called 'p3.8'.*did you mean"),
        ("v100=2x4,k80=2x4:links=nowhere.txt", "links.k80"),
        ("a100=2x8:links=p3.16xlarge", "p3.16xlarge has GPUs of type v100, and these are a100.*dgx-a100"),
        ("tesla-k80=2x4:links=p3.8xlarge", "has GPUs of type v100.*nvidia-smi topo -m"),
    ],
)
def test_links_that_do_not_fit_are_refused(spec, words):
    with pytest.raises(BloxError) as told:
        cluster_from_spec(spec)
    assert re.search(words, f"{told.value.where} {told.value.what} {told.value.fix}", re.DOTALL)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,10\n10\n", "links.txt:2: 1 values, and there are 2 rows"),
        ("# Gb/s\n0,10\n20,0\n", "links.txt:3: 10 from GPU 0 to GPU 1, and 20 back"),
        ("0,10\n10,0\n# a third\n\n0,0,0\n", "links.txt:1: 2 values, and there are 3 rows"),
        ("0,x\nx,0\n", "links.txt:1: a bandwidth is 'x'"),
        ("0,10\n10,750\n", "links.txt:2: GPU 1 has a link of 750 Gb/s to itself"),
        ("0,10\n10,nan\n", "links.txt:2: a bandwidth is 'nan'"),
        ("GPU0 GPU1\nGPU0 X\nGPU1 NV1 X\n", "links.txt:2: .*not whole"),
        ("  GPU0 GPU1\nGPU0 X NV1\nGPU1 FOO X\n", "links.txt:3: no link is called 'FOO'"),
    ],
)
def test_files_that_hold_no_links_are_refused(tmp_path, text, words):
    (tmp_path / "links.txt").write_text(text)
    with pytest.raises(BloxError, match=words):
        links_from(str(tmp_path / "links.txt"), where="test")


def test_a_matrix_in_a_cluster_file_is_told_by_its_row(tmp_path):
    (tmp_path / "c.toml").write_text("[[nodes]]\ncount = 2\ngpus = 2\n[links]\ngpu = [[0, 5], [5, 9]]\n")
    with pytest.raises(
        BloxError, match=r"c.toml:5, \[links\] gpu, row 2: GPU 1 has a link of 9 Gb/s to itself"
    ):
        cluster_from_spec(str(tmp_path / "c.toml"))


def test_an_x_stands_for_the_gpu_itself(tmp_path):
    (tmp_path / "links.csv").write_text("X,10\n10,x\n")
    assert links_from(str(tmp_path / "links.csv"), where="test") == ((0.0, 10.0), (10.0, 0.0))


def by_reference(links, free, count):
    """The most bandwidth of so many GPUs, and the most that is left by GPUs that have as much."""
    found = []
    for chosen in itertools.combinations(free, count):
        left = [gpu for gpu in free if gpu not in chosen]
        found.append((total_gbps(links, chosen), total_gbps(links, left)))
    return max(found)


@examples(60)
@given(st.data())
def test_the_choice_is_exact_for_nodes_of_up_to_eight_gpus(data):
    size = data.draw(st.integers(1, 8))
    pairs = list(itertools.combinations(range(size), 2))
    given_gbps = data.draw(
        st.lists(st.sampled_from([0.0, 48.0, 200.0, 400.0]), min_size=len(pairs), max_size=len(pairs))
    )
    between = dict(zip(pairs, given_gbps))
    links = tuple(tuple(between.get((min(i, j), max(i, j)), 0.0) for j in range(size)) for i in range(size))
    free = tuple(sorted(data.draw(st.sets(st.integers(0, size - 1), min_size=1))))
    count = data.draw(st.integers(1, len(free)))
    chosen = best_subset(links, free, count)
    assert len(set(chosen)) == count and set(chosen) <= set(free)
    left = [gpu for gpu in free if gpu not in chosen]
    assert (total_gbps(links, chosen), total_gbps(links, left)) == by_reference(links, free, count)


def test_larger_nodes_are_served_one_gpu_after_another():
    """64 GPUs in pairs of 400 Gb/s: the 8 chosen of them are four of these pairs."""
    links = tuple(tuple(400.0 if i // 2 == j // 2 and i != j else 48.0 for j in range(64)) for i in range(64))
    chosen = best_subset(links, tuple(range(64)), 8)
    assert (
        len(chosen) == 8
        and sorted(gpu // 2 for gpu in chosen)[::2] == sorted(gpu // 2 for gpu in chosen)[1::2]
    )


def test_the_mean_is_over_pairs():
    links = machines()["p3.8xlarge"].links
    assert mean_gbps(links, (0, 1)) == 200.0
    assert mean_gbps(links, (0, 1, 2, 3)) == 300.0
    assert mean_gbps(links, (2,)) == 0.0
