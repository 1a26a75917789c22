"""The preset synergy where the goldens do not reach: starving, jobs without iterations, what OPT reports."""

import pytest

from blox import Experiment
from support.traces import WITH_MODEL, trace

HOUR = 3600


def run_preset(path, options, cluster="1x1:cpu=3,memory_gb=62.5", **more):
    return Experiment(workload=path, cluster=cluster, compat=f"synergy:{options}", **more).run()


@pytest.mark.parametrize("schedule", ["SRTF", "LAS"])
def test_who_has_not_run_for_1000_hours_goes_first_for_good(tmp_path, schedule):
    """A job of 50 h comes every 50 h, and is shorter, or has less service, than the one that comes first.

    `long` runs in the round at 0 h and waits from 50 h on. At 1050 h that is 1000 h, which is not yet more;
    at 1100 h it is, and in the round after, at 1150 h, `long` goes first and keeps the GPU to its end.
    """
    short = [(f"short-{i}", (50 * i + 1) * HOUR, 1, 50 * HOUR, "") for i in range(30)]
    path = trace(tmp_path / "t.csv", [("long", 0, 1, 200 * HOUR, ""), *short], WITH_MODEL)
    settings = {"round_s": 50.0 * HOUR}
    jobs = run_preset(path, f"schedule={schedule},allocation=fair", **settings).jobs
    assert jobs["finish_s"][0] == (1150 + 150) * HOUR
    without = run_preset(path, f"schedule={schedule},allocation=fair,starved_first=false", **settings).jobs
    assert without["finish_s"][0] == (50 + 30 * 50 + 150) * HOUR


@pytest.mark.parametrize("schedule", ["FIFO", "SRTF", "LAS", "FTF"])
def test_jobs_without_iterations_count_seconds(tmp_path, schedule):
    rows = [("a", 0, 1, 900.5, "gnmt"), ("b", 0, 1, 600, "alexnet"), ("c", 100, 1, 300, "")]
    jobs = run_preset(
        trace(tmp_path / "t.csv", rows, WITH_MODEL), f"schedule={schedule},allocation=tune"
    ).jobs
    assert sorted(jobs["finish_s"].tolist())[-1] == 1800  # one GPU, 900 + 600 + 300 s of work


def test_opt_reports_its_gap(tmp_path):
    pytest.importorskip("highspy")
    rows = [("a", 0, 1, 900, "alexnet"), ("b", 0, 1, 600, "gnmt")]
    result = run_preset(
        trace(tmp_path / "t.csv", rows, WITH_MODEL),
        "allocation=opt",
        cluster="1x2:cpu=6,memory_gb=125",
        round_s=300.0,
    )
    assert result.summary["opt_gap"] == pytest.approx(0.0, abs=1e-9) and result.summary["opt_solved"] >= 2
