"""What users see: why a job waits, its place in line, when it might start, its life."""

import time

import pytest

from blox.cluster.central.ahead import Moment
from blox.cluster.central.news import queue
from blox.cluster.central.records import Policies
from blox.cluster.central.views import job_view, jobs_view, queueing
from blox.cluster.protocol.messages import Cancel, SetPolicies
from blox.cluster.protocol.queries import ListJobs, Queueing
from support.by_hand_cluster import Cluster, ended, running


def cluster_of(scheduler="fifo"):
    made = Cluster(Policies(scheduler=scheduler))
    made.report("a")
    made.report("b")
    return made


def full(scheduler="fifo", **waiting):
    """Job 1 runs on all four GPUs, expected to take 60 s; 2 and 3 wait."""
    made = cluster_of(scheduler)
    made.submit(4, expected_s=60.0, priority=9.0)
    made.until(3.0)
    made.report("a", running(1))
    made.report("b", running(1))
    made.submit(2, expected_s=30.0)
    made.submit(1, expected_s=10.0, **waiting)
    made.until(6.0)
    return made


def seen(cluster, job):
    return queueing(cluster.scheduler, cluster.scheduler.jobs.all[job], cluster.now)


def test_a_job_that_waits_says_why_and_where_in_line():
    cluster = full()
    assert seen(cluster, 1) is None
    assert seen(cluster, 2) == Queueing(1, "needs 2 GPUs, 0 free")
    assert seen(cluster, 3) == Queueing(2, "needs 1 GPU, 0 free")


def test_the_place_is_that_of_the_policies():
    cluster = full("fifo-priority", priority=1.0)
    assert (seen(cluster, 3).place, seen(cluster, 2).place) == (1, 2)
    cluster.ask(SetPolicies("p", scheduler="srtf"))
    assert seen(cluster, 3).why == "it starts in the next round"


def test_a_job_held_by_admission_says_so():
    cluster = full()
    cluster.ask(SetPolicies("p", admission="quota:user_jobs=1"))
    job = cluster.submit(1)
    cluster.until(9.0)
    assert seen(cluster, job).place == 3
    assert "quota" in seen(cluster, job).why or "admission" in seen(cluster, job).why


def test_a_job_that_just_came_waits_for_the_next_round():
    cluster = full()
    job = cluster.submit(1)
    assert seen(cluster, job) == Queueing(3, "it waits for the next round")


def test_without_nodes_a_job_waits_for_one():
    cluster = Cluster()
    job = cluster.submit(1)
    assert "no node has joined" in seen(cluster, job).why


def test_before_the_first_round_a_job_waits_for_that_and_not_for_a_node():
    cluster = Cluster()
    job = cluster.submit(1)
    cluster.report("node-0")
    assert seen(cluster, job) == Queueing(1, "it waits for the first round")


def test_a_policy_that_raises_is_told_and_disturbs_nothing(tmp_path):
    cluster = full()
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n    def schedule(self, job_state, cluster_state):\n        raise ValueError('no')\n"
    )
    cluster.ask(SetPolicies("p", scheduler=f"{file}:Mine"))
    assert seen(cluster, 2).why.startswith("the policies fail: ")


def test_looking_leaves_the_state_as_it_is():
    cluster = full("tiresias")
    before = dict(cluster.journal), cluster.scheduler.job_state.active.tolist()
    for job in (2, 3):
        seen(cluster, job)
    moment = Moment.of(cluster.scheduler, cluster.now)
    moment.guess(1, 3, time.monotonic() + 600.0)
    assert (dict(cluster.journal), cluster.scheduler.job_state.active.tolist()) == before
    cluster.until(9.0)
    assert cluster.scheduler.fault == ""


def test_when_a_job_starts_is_guessed_by_running_ahead():
    """Job 1 has run since 3 s and takes 60: at 6 s it is over in 57 s; the next round is at 63 s."""
    cluster = full()
    moment = Moment.of(cluster.scheduler, cluster.now)
    guess = moment.guess(1, 5, time.monotonic() + 600.0)
    assert (guess.low_s, guess.middle_s, guess.high_s, guess.draws) == (57.0, 57.0, 57.0, 5)


def test_where_nothing_is_expected_guesses_are_drawn():
    cluster = cluster_of()
    cluster.submit(4)
    cluster.until(3.0)
    cluster.report("a", running(1))
    cluster.report("b", running(1))
    cluster.submit(2)
    cluster.until(6.0)
    guess = Moment.of(cluster.scheduler, cluster.now).guess(1, 5, time.monotonic() + 600.0)
    assert guess.draws == 5 and 0 < guess.low_s <= guess.middle_s <= guess.high_s


def test_a_look_ahead_ends_when_its_time_is_over():
    cluster = full()
    guess = Moment.of(cluster.scheduler, cluster.now).guess(1, 5, time.monotonic() - 1.0)
    assert guess.draws == 0 and guess.middle_s is None


def test_a_view_shows_what_was_pushed_and_expected():
    cluster = full()
    cluster.report("a", running(1, iteration=7, metrics={"loss": 0.5}))
    cluster.report("b", running(1))
    cluster.until(9.0)
    view = job_view(cluster.scheduler, cluster.scheduler.jobs.all[1], cluster.now)
    assert (view.iteration, view.metrics, view.expected_s) == (7, {"loss": 0.5}, 60.0)
    assert view.state == "running" and view.queueing is None


@pytest.mark.parametrize("after", [0, 2, 3])
def test_lists_come_in_pages(after, monkeypatch):
    monkeypatch.setattr("blox.cluster.central.views.PAGE", 2)
    cluster = full()
    page = jobs_view(cluster.scheduler, ListJobs(ended=True, after=after))
    assert [view.job for view in page] == [n for n in (1, 2, 3) if n > after][:2]


def test_a_long_command_is_cut_in_a_list_only():
    cluster = cluster_of()
    job = cluster.submit(1, name="x" * 100)
    spec = cluster.scheduler.jobs.all[job].spec
    cluster.scheduler.jobs.all[job].spec = type(spec)(("python", "a" * 1000))
    (listed,) = jobs_view(cluster.scheduler, ListJobs())
    assert len(" ".join(listed.command)) < 600
    assert len(job_view(cluster.scheduler, cluster.scheduler.jobs.all[job]).command[1]) == 1000


def test_the_life_of_a_job_says_where_it_ran_and_what_took_its_place():
    cluster = full("fifo-priority")
    assert cluster.life(1) == ["submitted", "admitted", "placed on a, b", "started"]
    urgent = cluster.submit(4, priority=99.0)
    cluster.until(9.0)
    assert cluster.life(1)[-1] == f"preempted by job {urgent}"


def shown(cluster, job):
    view = job_view(cluster.scheduler, cluster.scheduler.jobs.all[job])
    return view.state, view.nodes, view.starts


@pytest.mark.parametrize(
    ("outcome", "after"), [("done", "finished"), ("failed", "failed, to be tried again")]
)
def test_a_job_whose_processes_have_ended_is_on_no_node_and_ending(outcome, after):
    cluster = cluster_of()
    job = cluster.submit(1)
    assert shown(cluster, job) == ("waiting", (), 0)
    cluster.until(3.0)
    assert shown(cluster, job) == ("starting", ("a",), 0)
    cluster.report("a", running(job))
    assert shown(cluster, job) == ("running", ("a",), 1)
    cluster.report("a", ended(job, outcome))
    assert shown(cluster, job) == ("ending", (), 1)
    cluster.until(6.0)
    assert shown(cluster, job)[0] == after


def test_a_cancelled_job_is_ending_until_the_next_round():
    cluster = cluster_of()
    job = cluster.submit(1)
    cluster.until(3.0)
    cluster.report("a", running(job))
    cluster.ask(Cancel("c", job))
    assert shown(cluster, job) == ("ending", ("a",), 1)


@pytest.mark.parametrize(("preemption", "state"), [("never", "running"), ("signal", "stopping")])
def test_a_job_is_shown_where_its_processes_are_and_its_starts_are_counted(preemption, state):
    """Preempted, decided to go on elsewhere, and decided otherwise: its processes have not left yet."""
    cluster = Cluster(Policies(scheduler="fifo-priority"))
    cluster.report("a")
    low = cluster.submit(2, preemption=preemption)
    cluster.until(3.0)
    cluster.report("a", running(low))
    high = cluster.submit(2, priority=1.0)
    cluster.until(6.0)
    assert shown(cluster, low) == (state, ("a",), 1) and shown(cluster, high) == ("starting", ("a",), 0)
    cluster.report("b")
    cluster.until(12.0)
    assert cluster.job(low).epoch == 2
    assert shown(cluster, low) == (state, ("a",), 1)
    cluster.report("a", ended(low, "done" if preemption == "never" else "left"))
    assert shown(cluster, low)[0] == ("ending" if preemption == "never" else "starting")


def test_a_job_that_needs_nodes_which_are_gone_says_so():
    cluster = cluster_of()
    wide = cluster.submit(3)
    for second in range(1, 16):
        cluster.until(float(second))
        cluster.report("b")
    narrow = cluster.submit(2)
    cluster.until(18.0)
    cluster.report("b")
    gone = "; 2 of 4 GPUs are on nodes that do not answer (a)"
    assert seen(cluster, wide).why.endswith(gone) and gone not in seen(cluster, narrow).why
    assert [line.why.endswith(gone) for line in queue(cluster.scheduler, cluster.now).rows] == [True, False]
