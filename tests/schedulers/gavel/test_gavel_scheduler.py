"""Gavel as a scheduler: every policy by name through the whole loop, on hand-computed and small clusters."""

from __future__ import annotations

import numpy as np
import pytest

from blox.checks import check
from blox.errors import BloxError
from blox.experiment.settings import Experiment
from blox.registry import build
from blox.schedulers.gavel.policies.by_name import POLICIES
from support.traces import WITH_MODEL, trace

THREE = "v100=1x4,p100=1x4,k80=1x4"


def run_gavel(workload, scheduler, cluster=THREE, **settings):
    return Experiment(
        workload=workload, scheduler=scheduler, cluster=cluster, round_s=360.0, **settings
    ).run()


def stints_on(result, job):
    of_job = result.stints["job"] == job
    return list(zip(result.stints["gpu"][of_job].tolist(), result.stints["start_s"][of_job].tolist()))


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_runs_jobs_to_their_end(policy):
    workload = "gavel:load=20,jobs=40" if policy == "allox" else "gavel:load=20,jobs=40,multi=true,max_gpus=4"
    result = run_gavel(workload, f"gavel:policy={policy}", seed=3)
    assert result.summary["finished"] == 40
    assert result.summary["avg_jct_s"] > 3600


@pytest.mark.parametrize(
    "spec",
    [
        "gavel:policy=max_min_fairness_packed",
        "gavel:policy=gandiva",
        "gavel:policy=fifo",
        "gavel:belief=noisy",
    ],
)
def test_policies_conform(spec):
    report = check(spec, "scheduling")
    assert report.ok, report


def test_one_job_runs_where_it_is_fastest(tmp_path):
    # a recommendation model is faster on a P100 than on a V100
    jobs = trace(tmp_path / "jobs.csv", ["a,0,1,3600,Recommendation (batch size 2048)"], WITH_MODEL)
    result = run_gavel(jobs, "gavel:policy=max_min_fairness_perf")
    speedup = 16.59663998583255 / 7.469632060833725
    assert result.jobs["jct_s"][0] == pytest.approx(3600 / speedup, rel=1e-12)
    assert [gpu for gpu, _ in stints_on(result, 0)] == [4]


def test_two_jobs_take_turns_on_the_one_fast_gpu(tmp_path):
    # both do 4 steps/s on the V100 and 1 on the K80: half of the time each is the only fair answer
    jobs = trace(tmp_path / "jobs.csv", ["a,0,1,36000,A3C", "b,0,1,36000,A3C"], WITH_MODEL)
    result = run_gavel(jobs, "gavel:policy=max_min_fairness_perf", cluster="v100=1x1,k80=1x1")
    slow = 3.4387678290723933 / 7.175767179667988
    shared_s = 36000 / ((1 + slow) / 2)
    assert result.jobs["jct_s"].max() == pytest.approx(shared_s, rel=0.02)
    fast = sum(
        result.stints["end_s"][result.stints["gpu"] == 0]
        - result.stints["start_s"][result.stints["gpu"] == 0]
    )
    assert fast == pytest.approx(shared_s, rel=0.02)


def test_weights_are_priorities(tmp_path):
    lines = ["a,0,1,72000,A3C,3", "b,0,1,72000,A3C,1"]
    jobs = trace(tmp_path / "jobs.csv", lines, f"{WITH_MODEL},priority")
    result = run_gavel(jobs, "gavel:policy=max_min_fairness_perf", cluster="v100=1x1", jobs=2)
    assert result.jobs["jct_s"][0] == pytest.approx(72000 * 4 / 3, rel=0.02)


def test_entities_share_by_their_weights(tmp_path):
    lines = [f"r{i},0,1,72000,A3C,red" for i in range(2)] + ["b,0,1,72000,A3C,blue"]
    jobs = trace(tmp_path / "jobs.csv", lines, f"{WITH_MODEL},tenant")
    fair = "gavel:policy=max_min_fairness_water_filling_perf,entities=tenant"
    result = run_gavel(jobs, f"{fair},entity_weights=blue:3+red:1", cluster="v100=1x1")
    assert result.jobs["jct_s"][2] == pytest.approx(72000 * 4 / 3, rel=0.02)
    first = run_gavel(jobs, f"{fair},inside=red:fifo", cluster="v100=1x1").jobs["jct_s"]
    assert first[0] == pytest.approx(2 * 72000, rel=0.02) and first[1] > first[0] + 30000


def test_two_jobs_share_a_gpu_where_that_helps(tmp_path):
    # beside each other both keep their speed on a V100, so sharing doubles what the GPU does
    jobs = trace(
        tmp_path / "jobs.csv", [f"{name},0,1,36000,ResNet-18 (batch size 16)" for name in "ab"], WITH_MODEL
    )
    alone = run_gavel(jobs, "gavel:policy=max_min_fairness_perf", cluster="v100=1x1")
    packed = run_gavel(jobs, "gavel:policy=max_min_fairness_packed", cluster="v100=1x1")
    assert alone.jobs["jct_s"].max() == pytest.approx(72000, rel=1e-9)
    assert packed.jobs["jct_s"].tolist() == pytest.approx([36000, 36000], rel=1e-9)
    assert packed.summary["utilisation"] == pytest.approx(1.0, rel=1e-9)


def test_a_job_with_an_slo_is_favoured_until_it_is_lost(tmp_path):
    head = f"{WITH_MODEL},deadline_s"
    policy = "gavel:policy=max_sum_throughput_normalized_by_cost_perf_SLOs"
    lines = ["a,0,1,36000,Transformer (batch size 256),", "b,0,1,36000,A3C,45000"]
    cheap = run_gavel(
        trace(tmp_path / "jobs.csv", lines, head), policy.removesuffix("_SLOs"), cluster="v100=1x1,k80=1x1"
    )
    held = run_gavel(trace(tmp_path / "jobs.csv", lines, head), policy, cluster="v100=1x1,k80=1x1")
    assert held.jobs["jct_s"][1] <= 45000 + 360 < cheap.jobs["jct_s"][1]  # to a round
    assert held.jobs["slo_relaxed"].tolist() == [0, 0]
    never = ["a,0,1,36000,A3C,9000", "b,0,1,36000,A3C,9000"]
    lost = run_gavel(trace(tmp_path / "jobs.csv", never, head), policy, cluster="v100=1x1,k80=1x1")
    assert lost.jobs["slo_relaxed"].tolist() == [1, 1] and lost.summary["finished"] == 2
    assert lost.summary["slo_relaxed"] == 2 and held.summary["slo_relaxed"] == 0


def test_leases_are_counted(tmp_path):
    jobs = trace(tmp_path / "jobs.csv", ["a,0,1,3600,A3C"], WITH_MODEL)
    result = run_gavel(jobs, "gavel")
    assert (result.jobs["leases"][0], result.jobs["lease_extensions"][0]) == (10, 9)
    assert result.summary["extended_leases"] == pytest.approx(0.9)


def test_a_zero_throughput_keeps_a_job_off_that_type(tmp_path):
    # ResNet-50 with batch size 128 does not fit two K80s
    lines = [f"j{i},0,2,7200,ResNet-50 (batch size 128)" for i in range(6)]
    result = run_gavel(trace(tmp_path / "jobs.csv", lines, WITH_MODEL), "gavel:policy=max_min_fairness")
    assert result.summary["finished"] == 6
    assert max(result.stints["gpu"]) < 8  # 8 to 11 are K80s


def test_a_type_that_nobody_can_use_idles(tmp_path):
    jobs = trace(
        tmp_path / "jobs.csv", [f"{i},0,1,3600,A3C,v100" for i in range(8)], f"{WITH_MODEL},gpu_types"
    )
    for policy in ("max_min_fairness_perf", "max_min_fairness", "gandiva", "isolated", "sjf_perf"):
        result = run_gavel(jobs, f"gavel:policy={policy}")
        assert result.summary["finished"] == 8 and max(result.stints["gpu"]) < 4, policy


def test_a_job_wider_than_any_type_is_refused(tmp_path):
    jobs = trace(tmp_path / "jobs.csv", ["a,0,1,3600,A3C", "wide,0,8,3600,LSTM"], WITH_MODEL)
    with pytest.raises(BloxError, match=r"job 'wide' takes 8 GPUs of one type, and there are 4 v100, 4 p100"):
        run_gavel(jobs, "gavel")


@pytest.mark.parametrize("policy", ["max_min_fairness_perf", "max_min_fairness_packed", "gandiva"])
def test_five_thousand_jobs_at_once(tmp_path, policy):
    lines = [f"{i},0,1,{600 + i % 7},{('A3C', 'LSTM')[i % 2]}" for i in range(5000)]
    cluster = "v100=100x4,p100=100x4,k80=100x4"
    result = run_gavel(
        trace(tmp_path / "jobs.csv", lines, WITH_MODEL),
        f"gavel:policy={policy}",
        cluster=cluster,
        max_rounds=5,
    )
    assert result.summary["finished"] >= 400


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("gavel:policy=max_min_fairnes_perf", "did you mean 'max_min_fairness_perf'"),
        ("gavel:policy=max_min_fairness_perf,entities=tenant", "knows no entities"),
        ("gavel:entity_weights=a:1", "say entities=tenant"),
        ("gavel:policy=max_min_fairness_water_filling,entities=user,entity_weights=a", "NAME:WEIGHT"),
        ("gavel:policy=max_min_fairness_water_filling,entities=user,inside=a:lifo", "NAME:fifo"),
        ("gavel:reset_s=-1", "0 or more"),
        ("gavel:belief=nosy", "did you mean 'noisy'"),
        ("gavel:throughputs=gone.json", "cannot be read"),
    ],
)
def test_faults_are_told_at_once(spec, words):
    with pytest.raises(BloxError) as told:
        build("scheduling", spec)
    assert words in str(told.value)


def test_noise_is_drawn_from_the_seed_and_stays_with_a_job():
    workload = "gavel:load=10,jobs=60"
    same = [run_gavel(workload, "gavel:belief=noisy,sigma=0.5", seed=2).jobs["jct_s"] for _ in range(2)]
    other = run_gavel(workload, "gavel", seed=2).jobs["jct_s"]
    assert np.array_equal(*same) and not np.array_equal(same[0], other)


def test_relaxed_slos_are_told(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["a,0,1,36000,A3C,9000", "b,0,1,36000,A3C,9000"]
    jobs = trace(tmp_path / "jobs.csv", lines, f"{WITH_MODEL},deadline_s")
    policy = "gavel:policy=max_sum_throughput_normalized_by_cost_perf_SLOs"
    answer = command("run", "--workload", jobs, "--cluster", "v100=1x1,k80=1x1", "--scheduler", policy)
    assert answer.code == 0 and "those of 2 jobs were relaxed" in " ".join(answer.out.split())


def test_gpu_types_of_which_nothing_is_known_are_refused():
    settings = {"workload": "gavel:load=60,jobs=3", "scheduler": "gavel"}
    for performance in ("auto", "duration"):
        with pytest.raises(BloxError, match="no speed is known for GPUs of type 'tpu9'"):
            Experiment(cluster="v100=1x4,tpu9=1x4", performance=performance, **settings).prepare()
    Experiment(cluster="v100=1x4,tpu9=1x4:speed=5", **settings).run()
