"""The hardware that a cluster names counts: GPU types, known or given a speed, and the network."""

import json

import pytest

from blox import BloxError, Experiment
from blox.performance.model_profiles import profiles_from
from blox.performance.spread import Spread
from blox.registry import build
from blox.state.cluster_spec import cluster_from_spec

TABLE = """model,aliases,parameters_m,largest_share,step_ms,source
big,,31.25,0.5,1000,test
*,,3.125,0.1,1000,test
"""
GPUS = "gpu,speed,node_gbps\nv100,1,100\nslow,0.5,100\nquick,4,200\n*,1,100\n"


@pytest.fixture
def spread(tmp_path):
    """`big`: 1 Gb of gradients and 1 s of compute a step; links of 100 Gb/s in a node, of quick GPUs 200."""
    (tmp_path / "models.csv").write_text(TABLE)
    (tmp_path / "gpus.csv").write_text(GPUS)
    return Spread(models=str(tmp_path / "models.csv"), gpus=str(tmp_path / "gpus.csv"))


@pytest.fixture
def run(tmp_path):
    """Runs jobs given as (gpus, duration_s, model), all submitted at 0, in rounds of 100 s."""

    def go(*rows, cluster, **settings):
        lines = [f"{number},0,{','.join(map(str, row))}" for number, row in enumerate(rows)]
        (tmp_path / "jobs.csv").write_text(
            "\n".join(["job_id,submit_s,gpus,duration_s,model", *lines]) + "\n"
        )
        return Experiment(workload=str(tmp_path / "jobs.csv"), cluster=cluster, round_s=100, **settings).run()

    return go


# -- a step where durations hold, over a step where the job stands --------------------------------------


def test_a_slow_network_costs_jobs_that_must_span_nodes_even_when_they_are_packed(spread, rates):
    """8 GPUs on two nodes of 4: 1 + 1.5/100 + 1/100 s at 100 Gb/s, 1 + 1.5/100 + 1/10 s at 10."""
    held = [tuple(range(8)), (8, 9)]
    assert rates(spread, held, "3x4") == [1.0, 1.0]
    assert rates(spread, held, "3x4:network_gbps=10") == pytest.approx([1.025 / 1.115, 1.0], rel=1e-12)


def test_gpus_compute_at_their_speed_and_the_network_stays_what_it_is(spread, rates):
    """Quick GPUs: 0.25 s of compute; 4 of them on a node 1.5/200 s, on two nodes 1/200 + 1/100 s."""
    held = [(0,), (4, 5, 6, 7), (8, 9, 12, 13)]
    expected = [4.0, 1.015 / (0.25 + 1.5 / 200), 1.015 / (0.25 + 1 / 200 + 1 / 100)]
    assert rates(spread, held, "quick=4x4") == pytest.approx(expected, rel=1e-12)
    slow = [0.5, 1.015 / (2 + 1.5 / 100), 1.015 / (2 + 1 / 100 + 1 / 100)]
    assert rates(spread, held, "slow=4x4") == pytest.approx(slow, rel=1e-12)


def test_a_job_on_several_types_goes_at_the_pace_of_the_slowest(spread, rates):
    """One quick and one slow GPU: 2 s of compute, 1/100 s of network."""
    assert rates(spread, [(3, 4)], "quick=1x4,slow=1x4") == pytest.approx([1.01 / 2.01], rel=1e-12)


def test_a_cluster_gives_a_type_its_speed(spread, tmp_path, rates):
    assert rates(spread, [(0,), (4,)], "v100=1x4,h100=1x4:speed=3.1") == pytest.approx([1.0, 3.1])
    assert rates(spread, [(0,), (4,)], "h100=1x4:speed=3.1,v100=1x4") == pytest.approx([3.1, 1.0])
    assert rates(spread, [(0,)], "1x4:speed=2") == [2.0]
    assert rates(spread, [(0,)], "quick=1x4:speed=5") == [5.0]  # before what the table says
    file = tmp_path / "cluster.toml"
    file.write_text('[[nodes]]\ngpus = 4\ngpu_type = "h100"\nspeed = 3.1\n')
    assert rates(spread, [(0,)], str(file)) == pytest.approx([3.1])


def test_the_projects_own_tables(rates):
    """One step of an LSTM on a V100 is 15.4 ms; gradients of 13.99 M parameters are 0.448 Gb."""
    lstm = profiles_from().model("LSTM")
    assert (lstm.gigabits, lstm.step_s) == (pytest.approx(0.44768), 0.0154)
    alone = [(0,)]
    assert rates(Spread(), alone, "a100=2x8", "LSTM") == pytest.approx([2.1])
    assert rates(Spread(), alone, "32x4", "LSTM") == rates(Spread(), alone, "v100=32x4", "LSTM") == [1.0]
    inside = 2 * 7 / 8
    home = 0.0154 + 0.44768 * (inside / 400 + 1 / 100)
    here = 0.0154 / 2.1 + 0.44768 * (inside / 1840 + 1 / 100)
    assert rates(Spread(), [tuple(range(16))], "a100=2x8", "LSTM") == pytest.approx([home / here])


# -- types of which nothing is known ---------------------------------------------------------------------


@pytest.mark.parametrize("performance", ["auto", "spread", "throughputs"])
@pytest.mark.parametrize(
    ("cluster", "name"),
    [("v100=2x4,h100=2x4", "h100"), ("banana=2x4", "banana"), ("a100=1x4,xyz=1x4", "xyz")],
)
def test_a_type_without_a_known_speed_is_refused_with_the_way_to_give_one(performance, cluster, name):
    for workload in ("philly:max_gpus=8", "constant"):
        with pytest.raises(BloxError) as refused:
            Experiment(workload=workload, cluster=cluster, performance=performance).prepare()
        text = refused.value.text()
        assert f"no speed is known for GPUs of type '{name}'" in text and f"cluster '{cluster}'" in text
        assert "known: a100, k80, p100, v100" in text and f"{name}=NODESxGPUS:speed=3.1" in text


def test_placement_by_profile_needs_to_know_the_gpus_too():
    with pytest.raises(BloxError, match="no speed is known for GPUs of type 'banana'"):
        Experiment(cluster="banana=32x4", placement="profile", performance="duration").prepare()
    Experiment(cluster="banana=32x4", placement="profile:gpu=v100", performance="duration").prepare()


def test_a_table_of_throughputs_names_types_of_its_own(tmp_path, run):
    table = {kind: {"('a', 1)": {"null": rate}} for kind, rate in (("v100", 2.0), ("tpu", 6.0))}
    (tmp_path / "t.json").write_text(json.dumps(table))
    speeds = f"throughputs:path={tmp_path / 't.json'}"
    assert run((1, 300, "a"), cluster="tpu=1x1", performance=speeds).jobs["jct_s"].tolist() == [100]
    with pytest.raises(BloxError, match="has GPUs of type 'tpu' and no model 'b'"):
        run((1, 300, "b"), cluster="tpu=1x1", performance=speeds)
    given = run((1, 300, "b"), cluster="tpu=1x1:speed=2", performance=speeds)
    assert given.jobs["jct_s"].tolist() == [150]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2x4:speed=0", "speed is '0'"),
        ("2x4:speed=fast", "speed is 'fast'"),
        ("2x4:sped=2", "did you mean 'speed'"),
    ],
)
def test_speeds_that_are_none_are_refused(text, words):
    with pytest.raises(BloxError, match=words):
        cluster_from_spec(text)


def test_a_type_has_one_speed(tmp_path):
    file = tmp_path / "cluster.toml"
    nodes = '[[nodes]]\ngpus = 4\nname = "{0}"\ngpu_type = "h100"\nspeed = {1}\n'
    file.write_text(nodes.format("a", 3) + nodes.format("b", 3.1))
    with pytest.raises(BloxError, match=r"'h100' have the speeds 3 and 3\.1"):
        cluster_from_spec(str(file))


# -- what `auto` comes to --------------------------------------------------------------------------------

AUTO = [
    ("philly", "32x4", {}, "spread"),
    ("philly:max_gpus=8", "v100=4x4,k80=4x4", {}, "spread"),
    ("gavel", "v100=4x4,k80=4x4", {"scheduler": "gavel"}, "spread"),
    ("constant", "32x4", {}, "duration"),
    ("constant", "a100=32x4", {}, "throughputs"),
    ("constant", "32x4:speed=2", {}, "throughputs"),
    ("constant", "32x4", {"scheduler": "gavel"}, "throughputs"),
    ("elastic", "16x4", {}, "goodput"),
    ("philly", "32x4", {"placement": "synergy"}, "sensitivity"),
]


@pytest.mark.parametrize(("workload", "cluster", "settings", "model"), AUTO)
def test_auto_takes_the_hardware_into_account_wherever_it_can(workload, cluster, settings, model):
    prepared = Experiment(workload=workload, cluster=cluster, **settings).prepare()
    assert type(prepared.composition.performance) is type(build("performance", model))


def test_one_type_alone_has_its_own_speed(run):
    for model in ("LSTM", ""):
        assert run((1, 2100, model), cluster="a100=2x8").jobs["jct_s"].tolist() == [1000]
        assert run((1, 600, model), cluster="2x8").jobs["jct_s"].tolist() == [600]
        assert run((1, 600, model), cluster="v100=2x8").jobs["jct_s"].tolist() == [600]


def test_the_network_matters_by_default_wherever_jobs_are(run):
    jct = {
        (gbps, placement): run(
            (8, 1000, "LSTM"), cluster=f"4x4:network_gbps={gbps}", placement=placement
        ).jobs["jct_s"][0]
        for gbps in (10, 100)
        for placement in ("consolidated", "scattered")
    }
    assert jct[100, "consolidated"] == 1000
    assert jct[10, "consolidated"] > 2 * jct[100, "consolidated"]
    assert jct[10, "scattered"] >= jct[10, "consolidated"]


def test_placements_can_be_compared_by_default():
    """Fragments spreads jobs over nodes that consolidated keeps together, and that costs."""
    settings = {"workload": "philly:load=12", "jobs": 300, "cluster": "16x8:network_gbps=10"}
    together, apart = (
        Experiment(**settings, placement=name).run().summary["avg_jct_s"]
        for name in ("consolidated", "fragments")
    )
    assert apart > 1.05 * together


# -- what a run tells ------------------------------------------------------------------------------------


def assumed(result):
    return result.experiment["provenance"].get("assumed", [])


def test_a_result_names_the_reference_type(run):
    result = run((1, 600, "LSTM"), cluster="v100=1x4,h100=1x4:speed=3.1,a100=1x4")
    assert result.experiment["provenance"]["reference_gpu_type"] == "v100"
    assert assumed(result) == [
        "durations hold for v100 GPUs (speed 1); h100 3.1, a100 2.1, or as measured of a model"
    ]
    assert assumed(run((1, 600, "LSTM"), cluster="2x4")) == []


def test_what_is_taken_for_granted_is_told(run):
    as_fast = "a job spread over several nodes is taken to run as fast as on one (--performance spread)"
    assert assumed(run((2, 600, ""), cluster="2x4")) == [as_fast]
    assert assumed(run((1, 600, ""), cluster="2x4")) == []  # no job can be spread
    assert assumed(run((2, 600, ""), cluster="1x4")) == []
    assert assumed(run((2, 600, ""), cluster="2x4", placement="count")) == []
    assert assumed(run((2, 600, ""), cluster="2x4", performance="duration")) == []  # said by name
    (models,) = assumed(run((2, 600, "LSTM"), (2, 600, "Mamba"), (1, 600, "Hyena"), cluster="2x4"))
    assert models == (
        "1 of 2 jobs on several GPUs are of models without a profile, and are taken for a Resnet-50 on the "
        "network: Mamba"
    )
    alike = assumed(run((1, 600, ""), cluster="v100=1x4,a100=1x4", performance="duration"))
    assert alike == ["GPUs of all types are taken to be equally fast: v100, a100"]


def test_notes_that_hold_for_all_runs_are_told_once(command, tmp_path):
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,2,600\n")
    words = ["--workload", tmp_path / "jobs.csv", "--cluster", "2x4", "--scheduler", "fifo,las"]
    answer = command("compare", *words, "--processes", 1)
    assert answer.code == 0
    told = " ".join(answer.out.split())
    assert told.count("a job spread over several nodes is taken to run as fast as on one") == 1
