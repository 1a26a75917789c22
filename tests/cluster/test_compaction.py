"""Jobs that ended long ago leave the scheduler's tables, and nothing else changes."""

import numpy as np
import pytest

from blox.cluster.central import compaction
from blox.cluster.central.records import Policies
from blox.cluster.central.views import job_view, jobs_view
from blox.cluster.chaos.history import run_history
from blox.cluster.protocol.messages import Accepted, Cancel, JobSpec, Refused, Submit
from blox.cluster.protocol.queries import ListJobs
from blox.state.jobs import JobState
from blox.workloads.table import JobTable
from support.by_hand_cluster import Cluster, ended, running


@pytest.fixture
def soon(monkeypatch):
    """Compaction after two ends, all but one of which are forgotten."""
    monkeypatch.setattr(compaction, "MOST", 1)
    monkeypatch.setattr(compaction, "KEPT", 1)


@pytest.fixture
def cluster(soon):
    """Five jobs of one GPU on two nodes of two: 1 to 3 have ended, 4 runs, 5 waits for it."""
    made = Cluster()
    made.report("a")
    made.report("b")
    for _ in range(3):
        made.submit()
    made.until(3.0)
    made.report("a", ended(1, "done"), ended(2, "done"))
    made.report("b", ended(3, "done"))
    made.submit(4)
    made.submit()
    made.until(6.0)
    made.report("a", running(4))
    made.report("b", running(4))
    made.until(9.0)
    made.report("a", running(4))
    made.report("b", running(4))
    return made


def test_jobs_that_have_ended_leave_the_tables(cluster):
    assert sorted(cluster.scheduler.jobs.all) == [3, 4, 5]
    assert cluster.scheduler.job_state.submitted == 3
    assert [job.row for job in cluster.scheduler.jobs.all.values()] == [0, 1, 2]
    assert {key for key in cluster.journal if key.startswith(("job/", "ended/"))} == {
        "ended/0000000001", "ended/0000000002", "job/0000000003", "job/0000000004", "job/0000000005",
    }  # fmt: skip


def test_running_jobs_keep_their_gpus_and_go_on(cluster):
    assert cluster.scheduler.cluster_state.allocation.as_dict() == {1: (0, 1, 2, 3)}
    cluster.report("a", ended(4, "done"))
    cluster.report("b", ended(4, "done"))
    cluster.until(12.0)
    assert cluster.grants("a") == [(5, 1, (0,), False)]


def test_a_restart_finds_the_same_tables(cluster):
    before = cluster.scheduler
    cluster.restart()
    assert sorted(cluster.scheduler.jobs.all) == sorted(before.jobs.all)
    assert cluster.scheduler.job_state.active.tolist() == before.job_state.active.tolist() == [1, 2]
    assert cluster.submit() == 6


def test_a_job_that_was_forgotten_can_be_looked_up(cluster):
    job = cluster.scheduler.find(1)
    assert (job.end, job_view(cluster.scheduler, job).state) == ("finished", "finished")
    forgotten = [cluster.scheduler.find(n) for n in (1, 2)]
    listed = jobs_view(cluster.scheduler, ListJobs(ended=True), forgotten)
    assert [view.job for view in listed] == [1, 2, 3, 4, 5]
    answer = cluster.ask(Cancel("c", 1))
    assert isinstance(answer, Refused) and "has ended already" in answer.what


def test_a_request_of_long_ago_is_not_carried_out_again(cluster):
    request = Submit("r1", JobSpec(("train",), 1))
    assert cluster.ask(request) == Accepted("r1", 1)
    cluster.restart()
    assert cluster.ask(request) == Accepted("r1", 1)


def test_tables_stay_while_a_policy_remembers_rows(soon):
    made = Cluster(Policies(scheduler="themis"))
    made.report("a")
    for _ in range(2):
        made.submit()
    made.until(3.0)
    made.report("a", ended(1, "done"), ended(2, "done"))
    made.submit()
    made.until(9.0)
    assert made.scheduler.job_state.submitted == 3


def test_histories_hold_with_compaction(soon, monkeypatch):
    """Faults of every kind, while jobs are forgotten as soon as they have ended."""
    forgotten = 0
    compact = compaction.compact

    def counted(*args):
        nonlocal forgotten
        forgotten += 1
        return compact(*args)

    monkeypatch.setattr(compaction, "compact", counted)
    for seed in range(20):
        run_history(seed)
    assert forgotten > 20


def test_selected_rows_are_numbered_anew():
    state = JobState()
    columns = {"job_id": np.array(list("abcd")), "submit_s": np.arange(4.0), "gpus": np.array([1, 2, 3, 4])}
    state.stage(JobTable.build({**columns, "duration_s": np.ones(4)}, source="test"), np.ones(4))
    state.submit(4)
    state.add_new_jobs(np.array([0, 2]))
    state.report_metric("loss", np.array([2]), np.array([0.5]))
    state.finish(np.array([0]), 1.0)
    chosen = state.select(np.array([1, 2, 3]))
    assert chosen.active.tolist() == [1] and chosen.waiting.tolist() == [0, 2]
    assert chosen.columns.job_id.tolist() == ["b", "c", "d"]
    assert chosen.gpus.tolist() == [3] and chosen.metric("loss").tolist() == [0.5]
    assert state.active.tolist() == [2]
