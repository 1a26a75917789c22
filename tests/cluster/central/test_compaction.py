"""Jobs that ended long ago leave the scheduler's tables, and nothing else changes."""

import random

import numpy as np
import pytest

from blox.cluster.central import compaction
from blox.cluster.central.records import Policies
from blox.cluster.central.views import job_view, jobs_view
from blox.cluster.chaos.history import run_history
from blox.cluster.protocol.messages import Accepted, Cancel, JobSpec, Refused, SetPolicies, Submit
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


class Puppets:
    """Nodes that do what they are told: a rank runs for as many seconds as its job's name says."""

    def __init__(self, policies):
        self.cluster, self.ran = Cluster(policies), {}
        self.nodes = ("a", "b")
        for node in self.nodes:
            self.cluster.report(node)

    def play(self, seconds, jobs):
        """`jobs`: (second, gpus, seconds of work), in order."""
        cluster = self.cluster
        for second in range(1, seconds):
            while jobs and jobs[0][0] <= second:
                _, gpus, work = jobs.pop(0)
                cluster.submit(gpus, name=str(work))
            cluster.until(float(second))
            for node in self.nodes:
                cluster.report(node, *self.parts(node))
        return {job: cluster.life(job) for job in range(1, cluster.count + 1)}

    def parts(self, node):
        for grant in self.cluster.latest[node].grants:
            done = self.ran.setdefault((node, grant.job), 0)
            if grant.stop:
                yield ended(grant.job, "left", grant.epoch)
            elif done >= int(grant.spec.name):
                yield ended(grant.job, "done", grant.epoch)
            else:
                self.ran[node, grant.job] = done + 1
                yield running(grant.job, grant.epoch)


@pytest.mark.parametrize(
    "policies",
    [
        Policies(scheduler="las"),
        Policies(scheduler="tiresias:threshold=12"),
        Policies(scheduler="tiresias:threshold=12,promote=2"),
        Policies(scheduler="tiresias:index=gittins"),
        Policies(scheduler="promote:policy=srtf,after_s=20"),
        Policies(admission="quota:user_jobs=3", scheduler="tiresias:threshold=12"),
    ],
    ids=str,
)
def test_decisions_are_the_same_with_and_without_compaction(policies, monkeypatch):
    """What policies remember bears that rows are numbered anew."""

    def jobs():
        rng = random.Random(5)
        return sorted((rng.randint(1, 100), rng.choice((1, 1, 2, 3)), rng.randint(1, 20)) for _ in range(30))

    whole = Puppets(policies).play(220, jobs())
    monkeypatch.setattr(compaction, "MOST", 1)
    monkeypatch.setattr(compaction, "KEPT", 1)
    puppets = Puppets(policies)
    assert puppets.play(220, jobs()) == whole
    assert len(puppets.cluster.scheduler.jobs.by_row) < 15, "jobs were forgotten"
    assert sum(life[-1] == "finished" for life in whole.values()) == 30
    assert any("preempted" in what for life in whole.values() for what in life)


def test_policies_that_rule_no_longer_are_forgotten():
    made = Cluster(Policies(admission="quota:user_jobs=3", scheduler="tiresias"))
    made.report("a")
    made.submit()
    made.until(3.0)
    assert len(made.scheduler.job_state._memory) == 2
    made.ask(SetPolicies("p", scheduler="las"))
    (left,) = made.scheduler.job_state._memory
    assert left.startswith("Quota.accept")
    made.restart()
    assert list(made.scheduler.job_state._memory) == [left]
