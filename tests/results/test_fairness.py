"""rho by hand: jobs and apps, in isolation and in company."""

import numpy as np
import pytest

from blox.results.fairness import average_present, jain_index


def test_how_many_are_there_on_average():
    begin, end = np.array([0.0, 0.0, 50.0]), np.array([100.0, 50.0, 100.0])
    assert average_present(begin, end).tolist() == [2.0, 2.0, 2.0]


def test_a_run_without_jobs_has_no_rho(command):
    """One round ends before the first submission of this workload."""
    assert average_present(np.empty(0), np.empty(0)).tolist() == []
    answer = command("run", "--max-rounds", 1, "--jobs", 5)
    assert (answer.code, answer.err) == (0, "")


def test_alone_on_the_cluster_rho_is_1(run):
    result = run([("a", 0, 2, 900)], cluster="1x4", round_s=300.0)
    assert result.jobs["rho"].tolist() == [1.0]
    assert (result.summary["avg_rho"], result.summary["max_rho"], result.summary["rho_jain"]) == (1, 1, 1)


def test_one_after_the_other(run):
    """`a` runs 0-600 beside `b`, which waits and runs 600-1200: two jobs for 600 s, then one."""
    result = run([("a", 0, 4, 600), ("b", 0, 4, 600)], cluster="1x4", round_s=300.0)
    assert result.jobs["rho"].tolist() == pytest.approx([600 / (600 * 2), 1200 / (600 * 1.5)])
    assert result.summary["max_rho"] == pytest.approx(4 / 3)
    assert result.summary["rho_jain"] == pytest.approx((1 / 2 + 4 / 3) ** 2 / (2 * (1 / 4 + 16 / 9)))
    assert result.summary["avg_app_rho"] == result.summary["avg_rho"]


def test_an_app_is_a_group(run):
    """Two jobs of one GPU on one GPU: the app could have used two, and was alone."""
    rows = [("a", 0, 1, 600, "x"), ("b", 0, 1, 600, "x"), ("c", 1200, 1, 300, "")]
    result = run(
        rows, header="job_id,submit_s,gpus,duration_s,group", cluster="2x1", round_s=300.0, scheduler="fifo"
    )
    assert result.jobs["app"].tolist() == [0, 0, 1]
    assert result.jobs["app_rho"].tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert result.jobs["rho"].tolist() == pytest.approx([0.5, 0.5, 1.0])
    assert result.summary["avg_app_rho"] == pytest.approx(1.0)


def test_jobs_that_do_not_finish_have_no_rho(run):
    result = run([("a", 0, 1, 300), ("b", 0, 1, 3000)], cluster="1x1", round_s=300.0, max_rounds=3)
    assert result.jobs["rho"][0] == pytest.approx(300 / (300 * 2)) and np.isnan(result.jobs["rho"][1])


def test_jains_index():
    assert jain_index(np.array([2.0, 2.0])) == 1.0
    assert jain_index(np.array([1.0, 0.0])) == 0.5
    assert jain_index(np.empty(0)) is None


def test_apps_are_what_the_scheduler_takes_for_apps(run):
    rows = [("a", 0, 1, 600, "ann"), ("b", 0, 1, 600, "ann"), ("c", 0, 1, 300, "bob")]
    header = "job_id,submit_s,gpus,duration_s,user"
    assert run(rows, header=header, cluster="1x4", round_s=300.0).jobs["app"].tolist() == [0, 1, 2]
    for apps, want in (("user", [0, 0, 1]), ("job", [0, 1, 2])):
        result = run(rows, header=header, cluster="1x4", round_s=300.0, scheduler=f"themis:apps={apps}")
        assert result.jobs["app"].tolist() == want


def test_an_app_of_which_a_job_has_not_finished_has_no_rho(run, recwarn):
    rows = [("a", 0, 1, 300, "x"), ("b", 0, 1, 3000, "x")]
    result = run(
        rows, header="job_id,submit_s,gpus,duration_s,group", cluster="1x2", round_s=300.0, max_rounds=3
    )
    assert np.isnan(result.jobs["app_rho"]).all() and not recwarn.list


def test_rounds_that_a_preset_credits_whole_are_no_time_in_isolation(run):
    """400 s of work end after two rounds of 300 s: 600 s, where the job would have taken 400."""
    result = run([("a", 0, 1, 400)], round_s=300.0, compat="blox:policy=Fifo")
    assert result.jobs["rho"].tolist() == result.jobs["app_rho"].tolist() == [600 / 400]
