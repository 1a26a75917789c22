"""Fairness between tenants over time, by hand."""

import numpy as np
import pytest

from blox import Experiment, Result
from blox.report import series
from blox.report.page import page
from blox.results.tenants import evenness_over_time, max_min, tenants_over_time

TRACE = "job_id,submit_s,gpus,duration_s,tenant\na,0,4,600,x\nb,0,4,600,y\n"


@pytest.fixture
def result(tmp_path):
    """Two jobs that each want the whole cluster: x has it for ten minutes, then y."""
    (tmp_path / "jobs.csv").write_text(TRACE)
    workload = str(tmp_path / "jobs.csv")
    return Experiment(workload=workload, cluster="1x4", scheduler="fifo", clock="events").run()


def test_the_example_of_semantics(result):
    """Windows of a minute. While both want 4 of 4 GPUs, 2 are fair for each; then y is alone."""
    table = result.tables["tenants"]
    first = [(row["tenant"], row["wanted_gpus"], row["given_gpus"], row["fair_gpus"]) for row in rows(table)]
    assert first[:2] == [("x", 4, 4, 2), ("y", 4, 0, 2)]
    assert first[20:] == [("y", 4, 4, 4)] * 10
    begins, index = evenness_over_time(table)
    assert begins.tolist() == [60.0 * at for at in range(20)]
    assert index.tolist() == [0.5] * 10 + [1.0] * 10, "(2 + 0)^2 / (2 (2^2 + 0^2)), and one alone"
    assert [line.value[0] for line in series.served(result).values()] == [200.0, 0.0]


def test_fair_parts_are_of_the_whole_cluster_also_while_a_node_is_drained(tmp_path):
    (tmp_path / "jobs.csv").write_text(TRACE)
    settings = {"workload": str(tmp_path / "jobs.csv"), "cluster": "2x4", "clock": "events"}
    table = Experiment(**settings, failures="drain:node=1,at=0").run().tables["tenants"]
    first = [(row["tenant"], row["given_gpus"], row["fair_gpus"]) for row in rows(table)][:2]
    assert first == [("x", 4, 4), ("y", 0, 4)]


def test_it_is_kept_and_drawn(result, tmp_path):
    result.save(tmp_path / "kept")
    again = Result.load(tmp_path / "kept")
    for name, column in result.tables["tenants"].items():
        assert again.tables["tenants"][name].tolist() == column.tolist()
    drawn = page([again], "title")
    assert "Fairness between tenants" in drawn and "What tenants were given" in drawn
    assert "What tenants were given" not in page([again, again], "title"), "one run at a time"


def test_runs_of_one_tenant_have_no_such_table(tmp_path):
    (tmp_path / "jobs.csv").write_text(TRACE.replace(",y", ","))
    result = Experiment(workload=str(tmp_path / "jobs.csv"), cluster="1x4").run()
    assert "tenants" not in result.tables and "Fairness between tenants" not in page([result], "title")


def test_what_is_given_adds_up_to_the_gpu_time():
    """Random jobs of three tenants: sums over windows are those of the stints; no fair part is above want."""
    rng = np.random.default_rng(5)
    count = 60
    submit, run_s = np.sort(rng.uniform(0, 9e5, count)), rng.uniform(10, 9e4, count)
    start = submit + rng.uniform(0, 5e4, count)
    jobs = {
        "tenant": np.array(rng.choice(["x", "y", "z"], count), dtype=object),
        "submit_s": submit,
        "finish_s": start + run_s,
        "gpus": np.ones(count, dtype=np.int64),
    }
    stints = {"job": np.arange(count), "start_s": start, "end_s": start + run_s}
    table = tenants_over_time(jobs, stints, end_s=float((start + run_s).max()), total_gpus=4)
    length = table["until_s"] - table["time_s"]
    assert (table["given_gpus"] * length).sum() == pytest.approx(run_s.sum())
    assert (table["wanted_gpus"] * length).sum() == pytest.approx((start + run_s - submit).sum())
    assert (table["fair_gpus"] <= table["wanted_gpus"] + 1e-12).all()


def test_max_min_by_hand():
    assert max_min(np.array([10.0, 1.0, 5.0]), 10).tolist() == [4.5, 1.0, 4.5]
    assert max_min(np.array([1.0, 2.0]), 10).tolist() == [1.0, 2.0]


def rows(table):
    return [dict(zip(table, cells)) for cells in zip(*(column.tolist() for column in table.values()))]
