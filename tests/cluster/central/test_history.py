"""What is believed of a job's duration: what its user says, what its command took before, or nothing."""

import numpy as np
import pytest

from blox.cluster.central import history as history_module
from blox.cluster.central.history import Belief, Durations, History
from blox.cluster.protocol.messages import JobSpec
from support.by_hand_cluster import Cluster, ended, running

SPEC = JobSpec(("python", "train.py"), user="ann")


def test_the_user_is_believed_first():
    known = History()
    known.finished(SPEC, 50.0)
    told = JobSpec(("python", "train.py"), user="ann", expected_s=7.0)
    assert known.believe(told) == Belief(7.0, "its user")


def test_then_the_median_of_the_same_command_of_the_same_user():
    known = History()
    for seconds in (10.0, 90.0, 30.0):
        known.finished(SPEC, seconds)
    assert known.believe(SPEC) == Belief(30.0, "3 earlier runs of its command")
    assert known.believe(JobSpec(("python", "train.py"), user="bob")) == Belief(None, "unknown")
    assert known.believe(JobSpec(("python", "other.py"), user="ann")) == Belief(None, "unknown")


def test_only_the_latest_durations_and_commands_are_kept(monkeypatch):
    monkeypatch.setattr(history_module, "_KEPT", 2)
    monkeypatch.setattr(history_module, "_MOST", 2)
    known = History()
    for seconds in (1000.0, 10.0, 20.0):
        known.finished(SPEC, seconds)
    assert known.believe(SPEC).expected_s == 15.0
    for name in ("b", "c"):
        known.finished(JobSpec((name,)), 5.0)
    assert known.believe(SPEC).expected_s is None
    assert list(known.changed.values()).count(None) == 1


def test_it_survives_as_records():
    known = History()
    known.finished(SPEC, 10.0)
    assert History(known.changed.values()).believe(SPEC).expected_s == 10.0
    assert isinstance(next(iter(known.changed.values())), Durations)


@pytest.fixture
def cluster():
    made = Cluster()
    made.report("a")
    made.report("b")
    return made


def test_a_job_is_expected_to_run_as_long_as_the_same_command_did(cluster):
    cluster.submit()
    cluster.until(3.0)
    cluster.now = 4.0
    cluster.report("a", running(1))
    cluster.until(10.0)
    cluster.report("a", ended(1, "done"))
    cluster.until(12.0)
    cluster.restart()
    again = cluster.submit()
    job = cluster.scheduler.jobs.all[again]
    assert job.expected_s == pytest.approx(6.0)  # from its start at 4 s until its end was told, at 10 s
    assert job.expected_from == "1 earlier run of its command"
    cluster.report("a")
    cluster.report("b")
    cluster.until(18.0)
    assert cluster.scheduler.job_state.columns.expected_s[job.row] == job.expected_s


def test_of_a_new_command_nothing_is_believed(cluster):
    job = cluster.submit()
    cluster.until(3.0)
    assert np.isnan(cluster.scheduler.job_state.columns.expected_s[cluster.job(job).row])


def test_speeds_come_from_pushed_iteration_times(cluster):
    cluster.submit()
    cluster.until(3.0)
    cluster.report("a", running(1, metrics={"iteration_s": 0.25, "loss": 2.0}))
    cluster.until(6.0)
    state = cluster.scheduler.job_state
    assert state.metrics_of(0) == {"iteration_s": 0.25, "steps_per_s": 4.0, "loss": 2.0}


def test_the_number_of_metrics_is_bounded(cluster, monkeypatch):
    monkeypatch.setattr("blox.cluster.central.backend._MOST_METRICS", 3)
    cluster.submit()
    cluster.until(3.0)
    cluster.report("a", running(1, metrics={str(n): float(n) for n in range(9)}))
    cluster.until(6.0)
    assert len(cluster.scheduler.job_state.metrics_of(0)) == 3
