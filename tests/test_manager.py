"""The manager: what its verbs do to jobs, GPUs and time. Every number is worked out by hand.

Rounds are 100 s. Jobs are submitted at 0 s unless a test says otherwise.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from blox import Allocation, BloxError, Experiment, Plan
from blox.state.node_events import NodeEvent
from support.by_hand import ByHand
from support.traces import trace


@pytest.fixture
def by_hand(tmp_path):
    """A function that sets a run up: jobs as lines of job_id, submit_s, gpus, duration_s."""

    def start(jobs, cluster="1x4", clock="rounds", termination=None, **settings) -> ByHand:
        workload = trace(tmp_path / "jobs.csv", jobs)
        experiment = Experiment(workload=workload, cluster=cluster, clock=clock, round_s=100.0, **settings)
        return ByHand(experiment, **({"termination": termination} if termination else {}))

    return start


# -- what a plan does ---------------------------------------------------------------------------------------


def test_jobs_launch_stop_and_move_at_the_beginning_of_a_round(by_hand):
    """`a` runs from 0 s to its end; `b` runs 0-100 s, waits a round, and goes on where it was."""
    run = by_hand("a,0,2,250 b,0,2,150")
    assert run.begin() == [0, 1]
    assert run.end({0: (0, 1), 1: (2, 3)}) == 100
    assert run.round({0: (2, 3)}) == 200  # a moves, b stops
    assert run.round({0: (2, 3), 1: (0, 1)}) == 300  # b starts again
    run.begin()
    jobs = run.result().jobs
    assert jobs["finish_s"].tolist() == [250, 250]  # b: 100 s before its stop, 50 s after it
    assert jobs["preemptions"].tolist() == [0, 1]
    assert jobs["moves"].tolist() == [1, 0]
    assert jobs["run_s"].tolist() == [250, 150]
    assert jobs["queueing_s"].tolist() == [0, 100]
    assert jobs["gpu_seconds"].tolist() == [500, 300]
    assert run.manager.terminate and not run.manager.truncated


def test_a_plan_that_changes_nothing_leaves_jobs_alone(by_hand):
    run = by_hand("a,0,2,1000")
    run.round({0: (0, 1)})
    for _ in range(3):
        run.round({0: (0, 1)})
    assert run.job_state.done_s().tolist() == [300], "at 300 s, when the round began"
    assert run.result().jobs["moves"].tolist() == [0]


@pytest.mark.parametrize(
    ("wanted", "what"),
    [
        ({0: (0, 1), 1: (1, 2)}, "GPU 1 is given to job 'a' and job 'b'"),
        ({0: (0, 0)}, "GPU 0 is given to job 'a' and job 'a'"),
        ({0: (0, 4)}, "job 'a' gets GPU 4, and there are GPUs 0 to 3"),
        ({0: (0, -1)}, "job 'a' gets GPU -1, and there are GPUs 0 to 3"),
        ({0: (0,)}, "job 'a' gets 1 GPUs, and can use 2 to 2"),
        ({2: (0, 1)}, "row 2 gets GPUs, and is no job"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused_whoever_made_it(by_hand, wanted, what):
    run = by_hand("a,0,2,250 b,0,2,150")
    run.begin()
    with pytest.raises(BloxError) as stop:
        run.end(wanted)
    assert stop.value.what == what
    assert stop.value.where == "at 0 s" and stop.value.fix


@pytest.mark.parametrize("jobs", [2, 20])
@pytest.mark.parametrize(
    ("gpu", "words"),
    [(0, "which is not free"), (99, "there are GPUs 0 to 31"), (-1, "there are GPUs 0 to 31")],
)
def test_changes_that_give_a_gpu_away_twice_are_refused(by_hand, jobs, gpu, words):
    """As placements of our own build them: what is to change, for few jobs and for many."""
    run = by_hand([f"{row},0,1,250" for row in range(jobs)], cluster="4x8")
    gpus = np.arange(jobs)
    gpus[-1] = gpu
    run.begin()
    plan = Plan(Allocation(np.arange(jobs), np.ones(jobs, dtype=np.int64), gpus))
    with pytest.raises(BloxError, match=words) as stop:
        run.manager.exec_jobs(plan, run.cluster_state, run.job_state)
    assert f"gets GPU {gpu}, " in stop.value.what


def test_gpus_of_a_node_that_is_down_are_not_given_away(by_hand):
    run = by_hand("a,0,2,250", cluster="2x2")
    run.begin()
    run.cluster_state.set_node(1, "down")
    with pytest.raises(BloxError, match=r"job 'a' gets GPU 2 of .*, which is down"):
        run.end({0: (2, 3)})
    plan = Plan(Allocation(np.array([0]), np.array([2]), np.array([2, 3])))
    with pytest.raises(BloxError, match="job 'a' gets GPU 2, which is not free"):
        run.manager.exec_jobs(plan, run.cluster_state, run.job_state)


def test_a_job_that_completes_within_a_round_frees_its_gpus_at_the_next(by_hand):
    run = by_hand("a,0,3,130 b,0,2,1000")
    run.round({0: (0, 1, 2)})
    run.begin()
    assert run.cluster_state.free_gpus == 1
    run.end({0: (0, 1, 2)})
    run.begin()  # 200 s
    assert run.held == {} and run.cluster_state.free_gpus == 4
    assert run.job_state.active.tolist() == [1]
    assert run.job_state.columns.finish_s[0] == 130


def test_a_job_that_completes_at_the_boundary_has_completed(by_hand):
    run = by_hand("a,0,1,100")
    run.round({0: (0,)})
    run.begin()
    assert run.job_state.columns.finish_s[0] == 100 and run.manager.terminate


def test_a_job_that_completes_while_it_holds_no_gpu_frees_none(by_hand, monkeypatch):
    """On a real cluster a job may report its end just after it was suspended."""
    run = by_hand("a,0,2,1000 b,0,2,1000 c,0,1,1000")
    run.round({0: (0, 1), 1: (2, 3)})
    monkeypatch.setattr(run.backend, "completed", lambda *states: (np.array([2]), np.array([100.0])))
    run.begin()
    assert run.job_state.columns.finish_s[2] == 100 and run.job_state.active.tolist() == [0, 1]
    assert run.held == {0: (0, 1), 1: (2, 3)} and run.cluster_state.free_gpus == 0
    assert run.cluster_state.allocation.size == 2


def test_a_job_that_reports_its_end_late_has_finished_when_it_gave_its_gpus_up(by_hand, monkeypatch):
    """`a` was done at 150 s and says so after it was stopped at 200 s: it held its GPUs until then."""
    run = by_hand("a,0,2,1000")
    run.round({0: (0, 1)})
    run.round({0: (0, 1)})
    run.round({})
    monkeypatch.setattr(run.backend, "completed", lambda *states: (np.array([0]), np.array([150.0])))
    run.begin()
    jobs = run.result().jobs
    assert jobs["finish_s"].tolist() == [200] and jobs["run_s"].tolist() == [200]


# -- the wait queue -----------------------------------------------------------------------------------------


def test_jobs_that_were_not_admitted_are_offered_again_before_newer_ones(by_hand):
    run = by_hand("a,0,1,100 b,50,1,100 c,150,1,100")
    states = run.states
    offered = []
    for _ in range(3):
        run.manager.update_metrics(*states)
        offered.append(run.manager.pop_wait_queue().tolist())
        run.manager.next_round(*states)
    assert offered == [[0], [0, 1], [0, 1, 2]]


def test_the_run_ends_when_every_job_has_finished(by_hand):
    run = by_hand("a,0,1,100 b,250,1,50")
    run.round({0: (0,)})
    run.begin()  # 100 s: a has finished, b is yet to come
    assert not run.manager.terminate
    run.end({})
    run.begin()  # 200 s
    run.end({})
    run.begin()  # 300 s: b is here
    run.end({1: (0,)})
    run.begin()
    assert run.manager.terminate and run.manager.now == 400
    assert run.result().jobs["finish_s"].tolist() == [100, 350]


# -- jobs that are ended early ------------------------------------------------------------------------------


@dataclass(frozen=True)
class EndAt:
    """Ends these rows at a time."""

    time_s: float
    rows: tuple[int, ...]

    def terminate(self, job_state, cluster_state):
        here = np.intersect1d(job_state.active, self.rows)
        return here if job_state.now >= self.time_s else here[:0]


def test_a_job_that_is_ended_early_has_finished_and_frees_its_gpus(by_hand):
    run = by_hand("a,0,2,1000 b,0,2,1000", termination=EndAt(200, (0,)))
    for _ in range(2):
        run.round({0: (0, 1), 1: (2, 3)})
    run.begin()
    assert run.held == {1: (2, 3)} and run.job_state.active.tolist() == [1]
    assert run.job_state.columns.finish_s[0] == 200
    jobs = run.result().jobs
    assert jobs["run_s"].tolist() == [200, 200]
    assert jobs["state"].tolist() == ["ended early", "running"]
    assert jobs["preemptions"].tolist() == [0, 0]


def test_a_job_that_is_ended_while_it_waits_has_never_run(by_hand):
    run = by_hand("a,0,4,1000 b,0,4,1000", termination=EndAt(200, (1,)))
    for _ in range(2):
        run.round({0: (0, 1, 2, 3)})
    run.begin()
    assert run.held == {0: (0, 1, 2, 3)}, "the GPUs of others are left alone"
    jobs = run.result().jobs
    assert jobs["finish_s"][1] == 200 and jobs["run_s"][1] == 0 and np.isnan(jobs["first_start_s"][1])


def test_jobs_that_run_and_jobs_that_wait_can_be_ended_together(by_hand):
    run = by_hand("a,0,4,1000 b,0,4,1000", termination=EndAt(100, (0, 1)))
    run.round({0: (0, 1, 2, 3)})
    run.begin()
    assert run.held == {} and run.manager.terminate
    assert run.result().jobs["run_s"].tolist() == [100, 0]


# -- nodes that go and come ---------------------------------------------------------------------------------


def lose(run, monkeypatch, events):
    """Makes the backend tell of these (node, state) at the next round."""
    pending = [[NodeEvent(run.manager.now, *event) for event in events]]
    monkeypatch.setattr(run.backend, "node_events", lambda now: pending.pop() if pending else [])


def test_jobs_of_a_lost_node_wait_again_and_hold_nothing(by_hand, monkeypatch):
    """Two nodes of 2 GPUs: `a` stands on both, `b` on the second. The first is lost at 100 s."""
    run = by_hand("a,0,3,1000 b,0,1,1000", cluster="2x2")
    run.round({0: (0, 1, 2), 1: (3,)})
    lose(run, monkeypatch, [(0, "down")])
    run.begin()
    assert run.held == {1: (3,)}, "a gives up its GPU on the other node, too"
    assert run.job_state.active.tolist() == [0, 1] and run.job_state.running.tolist() == [False, True]
    assert run.cluster_state.total_gpus == 2 and run.cluster_state.free_ids().tolist() == [2]
    run.end({1: (3,)})
    assert run.result().jobs["preemptions"].tolist() == [0, 0], "it was not preempted"


def test_a_node_that_comes_back_has_free_gpus(by_hand, monkeypatch):
    run = by_hand("a,0,1,1000", cluster="2x2")
    run.round({0: (3,)})
    lose(run, monkeypatch, [(0, "down")])
    run.round({0: (3,)})
    lose(run, monkeypatch, [(0, "up")])
    run.begin()
    assert run.cluster_state.total_gpus == 4 and run.cluster_state.free_ids().tolist() == [0, 1, 2]
    assert run.held == {0: (3,)}


# -- how a run ends otherwise -------------------------------------------------------------------------------


def test_max_rounds_cuts_a_run_off_before_the_round_that_is_one_too_many(by_hand):
    """Rounds begin at 0, 100 and 200 s; at 300 s nothing is decided any more."""
    run = by_hand("a,0,1,1000", max_rounds=3)
    while not run.manager.terminate:
        run.round({0: (0,)})
    assert (run.manager.rounds, run.manager.now, run.manager.truncated) == (3, 300, True)
    jobs = run.result().jobs
    assert np.isnan(jobs["finish_s"][0]) and jobs["run_s"][0] == 300 and jobs["state"][0] == "running"


def test_max_rounds_counts_rounds_that_were_passed_over(by_hand):
    run = by_hand("a,0,1,1000", max_rounds=3)
    run.begin()
    run.end({0: (0,)})
    run.begin()
    run.manager.next_round(*run.states, stable_until=math.inf)  # the next event is at 1000 s
    assert (run.manager.rounds, run.manager.now, run.manager.truncated) == (2, 300, True)


def test_a_run_with_a_window_ends_when_its_jobs_have_finished(by_hand):
    """Jobs 1 and 2 are measured; job 0 runs on, and job 3 has not even come."""
    run = by_hand("a,0,1,5000 b,0,1,150 c,100,1,50 d,900,1,10", window="1-2")
    run.round({0: (0,), 1: (1,)})
    run.round({0: (0,), 1: (1,), 2: (2,)})
    run.begin()  # 200 s: b finished at 150 s, c at 150 s
    assert run.manager.terminate and not run.manager.truncated and run.manager.now == 200
    jobs = run.result().jobs
    assert jobs["in_window"].tolist() == [0, 1, 1] and run.result().summary["jobs"] == 2


def test_next_round_does_nothing_once_the_run_is_over(by_hand):
    run = by_hand("a,0,1,100")
    run.round({0: (0,)})
    run.round({})
    assert run.manager.terminate and run.manager.now == 100


# -- an idle cluster ----------------------------------------------------------------------------------------


def test_a_cluster_that_idles_for_ever_is_told_in_words(by_hand):
    run = by_hand("a,0,1,100 b,0,1,100", clock="events")
    run.begin()
    with pytest.raises(BloxError) as stop:
        run.end({})
    assert stop.value.what == (
        "2 jobs ('a', 'b') are admitted, nothing runs, and nothing will change any more"
    )
    assert stop.value.where == "at 0 s" and "give every job a turn" in stop.value.fix


def test_jobs_that_are_held_for_ever_are_told_as_such(by_hand):
    run = by_hand("a,0,1,100", clock="events")
    run.manager.update_metrics(*run.states)
    assert run.manager.pop_wait_queue().tolist() == [0]
    with pytest.raises(BloxError, match=r"1 jobs .* are held by the admission policy, nothing runs"):
        run.manager.next_round(*run.states)


def test_a_backend_that_forgets_submissions_is_told_in_words(by_hand, monkeypatch):
    run = by_hand("a,0,1,100 b,5000,1,100", clock="events")
    run.round({0: (0,)})
    run.begin()
    monkeypatch.setattr(run.backend, "next_event", lambda cluster_state, job_state: math.inf)
    with pytest.raises(BloxError, match="no job is left, more are to come, and the backend names no time"):
        run.end({})


def test_a_policy_may_wait_for_many_rounds_but_not_for_ever(by_hand):
    run = by_hand("a,0,1,100")
    run.begin()
    for _ in range(10_000):
        run.manager.next_round(*run.states)
    assert run.manager.now == 1_000_000
    with pytest.raises(BloxError, match="nothing runs, and nothing will change any more"):
        run.manager.next_round(*run.states)


def test_a_cluster_that_idles_until_a_submission_is_fine(by_hand):
    run = by_hand("a,0,1,100 b,5000,1,100", clock="events")
    run.round({0: (0,)})
    run.begin()
    assert run.end({}) == 5000


# -- real time ----------------------------------------------------------------------------------------------


def test_a_round_that_overran_goes_on_at_the_next_boundary(by_hand, monkeypatch):
    """The round of 0 s took until 130 s; the loop then sleeps until 200 s."""
    run = by_hand("a,0,1,1000")
    asked = []

    def slow(time_s):
        asked.append(time_s)
        return 130.0 if len(asked) == 1 else time_s

    monkeypatch.setattr(run.backend, "wait_until", slow)
    assert run.round({0: (0,)}) == 200
    assert asked == [100, 200]
