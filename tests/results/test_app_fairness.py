"""Finish-time fairness of apps by hand: over the time that an app has jobs; the same apps in every row."""

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.experiment.same_apps import same_apps
from blox.report import measures, words
from blox.results.fairness import alone_s, busy_periods


@pytest.fixture
def run(tmp_path):
    def go(*rows, **settings):
        path = tmp_path / "jobs.csv"
        lines = ["job_id,submit_s,gpus,duration_s,group,user", *(",".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
        return Experiment(
            workload=str(path), **{"cluster": "1x1", "performance": "duration", **settings}
        ).run()

    return go


EXAMPLE = [("a", 0, 1, 600, "X", "ann"), ("c", 300, 1, 600, "Y", "bob"), ("b", 3000, 1, 300, "X", "ann")]


def test_the_example_of_the_manual(run):
    """
    One GPU, fifo. `a` runs 0-600, `c` waits 300 s and runs 600-1200, `b` runs 3000-3300.
    X is busy 0-600, half of it beside Y, and 3000-3300 alone: 900 s, of 600 x 1.5 + 300 x 1.
    Y is busy 300-1200, a third of it beside X: 900 s, of 600 x 4/3.
    """
    result = run(*EXAMPLE)
    assert result.jobs["finish_s"].tolist() == [600, 1200, 3300]
    assert result.jobs["app_rho"].tolist() == pytest.approx([900 / 1200, 900 / 800, 900 / 1200])
    assert result.summary["max_app_rho"] == pytest.approx(1.125)


def test_time_between_submissions_is_no_delay(run):
    """A tenant that submits a job a day, none of which waits, is no worse off than alone."""
    daily = [(day, 86400 * day, 1, 600, "X", "ann") for day in range(20)]
    result = run(*daily)
    assert (result.jobs["responsiveness_s"] == 0).all()
    assert result.summary["max_app_rho"] == 1.0


def test_jobs_that_overlap_and_never_wait_are_no_delay(run):
    """Ten jobs of 600 s, one every 300 s, on enough GPUs: busy for 3,300 s, as alone."""
    chain = [(number, 300 * number, 1, 600, "X", "ann") for number in range(10)]
    result = run(*chain, cluster="1x4")
    assert result.summary["avg_responsiveness_s"] == 0
    assert result.jobs["app_rho"].tolist() == [1.0] * 10


def test_an_app_of_one_job_is_as_its_job(run):
    result = run(("a", 0, 1, 600, "", ""), ("b", 0, 1, 900, "X", ""), ("c", 300, 1, 300, "X", ""))
    assert result.jobs["app_rho"][0] == pytest.approx(600 / (600 * 2))
    assert result.jobs["rho"][0] == pytest.approx(600 / (600 * 2.5))  # three jobs from 300 on, two apps


def test_busy_periods():
    app = np.array([0, 1, 0, 0, 1])
    submit = np.array([0.0, 10.0, 20.0, 80.0, 500.0])
    until = np.array([50.0, 60.0, 80.0, 90.0, 600.0])
    found = [(each.app, each.begin_s, each.end_s, each.jobs) for each in busy_periods(app, submit, until)]
    assert found == [(0, 0.0, 90.0, [0, 2, 3]), (1, 10.0, 60.0, [1]), (1, 500.0, 600.0, [4])]


@pytest.mark.parametrize(
    ("submit_s", "work_s", "gpus", "total", "busy_s"),
    [
        ([0], [600], [1], 4, 600),
        ([0, 0], [100, 300], [1, 1], 4, 300),  # with the longest of those that run at once
        ([0, 99], [100, 100], [1, 1], 4, 199),
        ([0, 500], [100, 300], [1, 1], 4, 400),  # the time between does not count
        ([0, 0], [100, 300], [1, 1], 1, 400),  # one GPU for two
        ([0, 50], [100, 100], [2, 2], 2, 200),
        ([0], [100], [4], 2, 200),  # it asks for twice the cluster
    ],
)
def test_how_long_an_app_is_busy_alone(submit_s, work_s, gpus, total, busy_s):
    assert alone_s(np.array(submit_s, float), np.array(work_s, float), np.array(gpus), total) == busy_s


def test_runs_that_are_compared_have_the_same_apps(run):
    by_user = Experiment(scheduler="themis:apps=user")
    fifo, by_tenant, plain = (Experiment(scheduler=name) for name in ("fifo", "themis:apps=tenant", "themis"))
    assert [each.apps for each in same_apps([fifo, by_user])] == ["user", "user"]
    assert same_apps([fifo, plain]) == [fifo, plain]  # `group` for both, as it is
    assert same_apps([fifo, by_user, by_tenant]) == [fifo, by_user, by_tenant]
    named = Experiment(scheduler="las", apps="model")
    assert [each.apps for each in same_apps([named, by_user])] == ["model", "user"]


def test_where_apps_differ_no_run_is_best_and_a_note_says_so(run):
    mixed = [run(*EXAMPLE), run(*EXAMPLE, scheduler="themis:apps=job")]
    assert mixed[0].summary["avg_app_rho"] != mixed[1].summary["avg_app_rho"]
    assert all(measures.best(measure, mixed) == [] for measure in measures.APPS)
    assert words.different_apps(mixed) == [
        "app rho is of different apps: by group in fifo; by job in themis:apps=job (oracle) "
        "(--apps COLUMN sets one for all)"
    ]
    same = [run(*EXAMPLE), run(*EXAMPLE, scheduler="las")]
    assert words.different_apps(same) == []


def test_apps_of_a_run_can_be_named(run):
    assert run(*EXAMPLE, apps="user").jobs["app"].tolist() == [0, 1, 0]
    assert run(*EXAMPLE, apps="job").jobs["app"].tolist() == [0, 1, 2]
    with pytest.raises(BloxError, match=r"apps is .people.[\s\S]*valid: .*group, .*user"):
        run(*EXAMPLE, apps="people")
