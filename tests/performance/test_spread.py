"""What being spread costs, by hand; and against what Gavel measured on real machines."""

import ast
import json
import statistics

import pytest

from blox import BloxError, Experiment
from blox.performance.model_profiles import profiles_from
from blox.performance.spread import Spread
from blox.performance.training import slowdown, step_s
from blox.registry import build
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.workloads.population import MODELS

TABLE = """model,aliases,parameters_m,largest_share,step_ms,source
big,large|huge net,31.25,0.5,1000,test
*,,3.125,0.1,1000,test
"""
GPUS = "gpu,speed,node_gbps\nslow,0.5,100\n*,1,100\n"


@pytest.fixture
def files(tmp_path):
    """`big`: 1 Gb of gradients and 1 s per step; GPUs of a node are linked at 100 Gb/s."""
    (tmp_path / "models.csv").write_text(TABLE)
    (tmp_path / "gpus.csv").write_text(GPUS)
    return {"models": str(tmp_path / "models.csv"), "gpus": str(tmp_path / "gpus.csv")}


def test_a_job_on_two_nodes_pays_for_the_network(files, rates):
    """2 GPUs, 10 Gb/s: together 1 + 1 / 100 s a step, apart 1 + 1 / 10 s."""
    found = rates(Spread(**files), [(0, 1), (2, 4), (3,)], "4x4:network_gbps=10")
    assert found == pytest.approx([1.0, 1.01 / 1.1, 1.0], rel=1e-12)


def test_more_nodes_cost_more(files, rates):
    """4 GPUs: 1 + 1.5/100 s; on 2 + 2: 1 + 1/100 + 1/10; 3 + 1: 1 + 4/3/100 + 1/10; 1 each: 1 + 1.5/10."""
    held = [(0, 1, 2, 3), (4, 5, 8, 9), (6, 12, 13, 14), (7, 10, 15, 16)]
    expected = [1.0, 1.015 / 1.11, 1.015 / (1 + 4 / 300 + 0.1), 1.015 / 1.15]
    assert rates(Spread(**files), held, "5x4:network_gbps=10") == pytest.approx(expected, rel=1e-12)


def test_a_job_wider_than_a_node_needs_the_network_anyway(files, rates):
    """8 GPUs on two nodes of 4: 1 + 1.5/100 + 1/10 s whatever the policy; on 4 nodes 1 + 1/100 + 1.5/10."""
    held = [tuple(range(8)), (8, 9, 12, 13, 16, 17, 20, 21)]
    expected = [1.0, 1.115 / 1.16]
    packed = Spread(**files, durations="here")
    assert rates(packed, held, "6x4:network_gbps=10") == pytest.approx(expected, rel=1e-12)


def test_slow_gpus_lose_less_and_several_types_go_at_the_slowest_pace(files, rates):
    """At half the speed a step is 2 s of compute: together 2.01, apart 2.1."""
    cluster = "slow=2x4,gpu=2x4:network_gbps=10"
    held = [(0, 4), (1, 8), (9, 12)]
    expected = [2.01 / 2.1, 2.01 / 2.1, 1.01 / 1.1]
    assert rates(Spread(**files, durations="here"), held, cluster) == pytest.approx(expected, rel=1e-12)


def test_racks_and_links_are_those_of_the_cluster(files, tmp_path, rates):
    """Links of 200 to 400 Gb/s: two GPUs do best on 400. Between racks 1 Gb/s: 1 + 1 s."""
    links = "[[0, 200, 400], [200, 0, 300], [400, 300, 0]]"
    nodes = "".join(f'[[nodes]]\ngpus = 3\nname = "n{i}"\nrack = {i // 2}\n' for i in range(4))
    path = tmp_path / "cluster.toml"
    path.write_text(f"network_gbps = 10\nrack_gbps = 1\n{nodes}[links]\ngpu = {links}\n")
    best = 1 + 1 / 400
    expected = [best / 1.1, best / 2]
    packed = Spread(**files, durations="here")
    assert rates(packed, [(0, 3), (1, 6)], str(path)) == pytest.approx(expected, rel=1e-12)


def test_inside_a_node_a_job_has_the_links_of_its_own_gpus(files, rates):
    """p3.8xlarge: 400 Gb/s between GPUs 0 and 3, 200 between 0 and 1, 300 on average of all pairs.

    On two nodes, the slower half counts: GPUs 0 and 3 of one, 0 and 1 of the other."""
    cluster = "4x4:links=p3.8xlarge,network_gbps=10"
    held = [(0, 3), (4, 5), (8, 9, 10, 11)]
    best = {2: 1 + 1 / 400, 4: 1 + 1.5 / 300}
    here = rates(Spread(**files, durations="here"), held, cluster)
    assert here == pytest.approx([1.0, best[2] / (1 + 1 / 200), 1.0], rel=1e-12)
    apart = rates(Spread(**files, durations="here"), [(0, 3, 4, 5)], cluster)
    assert apart == pytest.approx([best[4] / (1 + 1 / 200 + 1 / 10)], rel=1e-12)
    reference = rates(Spread(**files), held[:2], cluster)  # durations hold where links have 100 Gb/s
    assert reference == pytest.approx([1.01 / best[2], 1.01 / (1 + 1 / 200)], rel=1e-12)


def test_nothing_is_spread_where_nodes_do_not_count(files, rates):
    cluster = ClusterState(cluster_from_spec("4x4:network_gbps=10"))
    cluster.one_pool = True
    assert rates(Spread(**files), [(0, 4)], cluster) == [1.0]


def test_names_are_known_by_letters_and_digits_and_others_take_the_default(files, rates):
    """The default has a tenth of the parameters: 1 + 0.1/100 and 1 + 0.1/10."""
    for name in ("big", "BIG", "Large", "huge-net (batch size 8)"):
        assert rates(Spread(**files), [(0, 4)], "2x4:network_gbps=10", name) == [pytest.approx(1.01 / 1.1)]
    for name in ("", "unheard of"):
        assert rates(Spread(**files), [(0, 4)], "2x4:network_gbps=10", name) == [pytest.approx(1.001 / 1.01)]


def test_every_model_of_the_paper_has_a_profile_of_its_own():
    profiles = profiles_from()
    assert [profiles.model(name).name for name in MODELS] == list(MODELS)
    assert profiles.model("vgg19").name == "VGG-19"  # as Tiresias's traces spell it
    assert profiles.model("LM (batch size 20)").name == "LSTM"  # and Gavel's


def test_a_faster_gpu_and_a_slower_network_make_spreading_dearer():
    profiles = profiles_from()
    for name in MODELS:
        model = profiles.model(name)
        loss = {
            (gpu, gbps): slowdown(model, 4, 4, profiles.generation(gpu), gbps)
            for gpu in ("p100", "v100", "a100")
            for gbps in (10, 100)
        }
        assert loss["p100", 10] < loss["v100", 10] < loss["a100", 10], name
        assert all(loss[gpu, 100] < loss[gpu, 10] for gpu in ("p100", "v100", "a100")), name


def test_steps_are_as_long_as_gavel_measured_them(shared):
    """Its V100 on separate machines (taken as one GPU each, 10 Gb/s), every model, batch and size there is.

    Compute is that of Gavel's own single GPU; what is put to the test is the time that the exchange adds.
    """
    table = json.loads(shared("data/gavel/simulation_throughputs.json").read_text())
    profiles, ratios = profiles_from(), []
    for key, entry in table["v100_unconsolidated"].items():
        kind, gpus = ast.literal_eval(key)
        alone = table["v100"][str((kind, 1))]["null"]
        if gpus > 1 and entry["null"] > 0:
            model = profiles.model(kind)
            modelled = step_s(model.gigabits, 1 / alone, 1, gpus, 400, 10)
            ratios.append(modelled * entry["null"] / gpus)  # its steps are counted per GPU
    assert len(ratios) > 40
    assert 0.8 < statistics.median(ratios) < 1.25
    assert all(0.6 < ratio < 1.4 for ratio in ratios), sorted(ratios)


def test_the_whole_run_follows_the_rate(files, tmp_path):
    """Two jobs of 1,010 steps on nodes of 3 GPUs: one together, 1 s a step; one apart, 1.1 / 1.01 s."""
    (tmp_path / "jobs.csv").write_text(
        "job_id,submit_s,gpus,duration_s,model\na,0,2,1010,big\nb,0,2,1010,big\n"
    )
    spec = f"spread:models={files['models']},gpus={files['gpus']}"
    made = Experiment(
        workload=str(tmp_path / "jobs.csv"), cluster="2x3:network_gbps=10", performance=spec, round_s=100.0
    ).run()
    # first-free: a gets GPUs 0 and 1, b gets 2 and 3, on two nodes
    assert made.jobs["finish_s"].tolist() == pytest.approx([1010.0, 1100.0])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model,size\n", "has other columns"),
        (TABLE.replace("31.25", "-31.25"), "parameters_m is '-31.25'"),
        (TABLE.replace("31.25", "much"), "models.csv:2: parameters_m is 'much'"),
        (TABLE.replace("0.5", "5"), "largest_share is 5"),
        (TABLE.replace("*", "other"), "no row *"),
        (TABLE.replace(",test\n", "\n", 1), "has other columns"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(tmp_path, text, says):
    (tmp_path / "models.csv").write_text(text)
    with pytest.raises(BloxError) as refused:
        build("performance", f"spread:models={tmp_path / 'models.csv'}")
    assert says in refused.value.text() and "fix:" in refused.value.text()


def test_a_cluster_without_a_network_is_refused(rates):
    with pytest.raises(BloxError, match="network_gbps is 0"):
        rates(Spread(), [(0, 4)], "2x4:network_gbps=0")
    with pytest.raises(BloxError, match="network_gbps is '-10'"):
        cluster_from_spec("2x4:network_gbps=-10")
