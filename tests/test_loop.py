"""The loop: which parts are asked when, and which rounds are passed over. Rounds are 100 s.

One job of 1000 s runs alone on one GPU unless a test says otherwise: its rounds begin at 0, 100, ..., 1000 s.
"""

import math

import numpy as np
import pytest

from blox import Allocation, Experiment, Schedule, loop
from blox.protocols import for_ever
from support.by_hand import ByHand
from support.traces import trace

EVERY_ROUND = [100.0 * number for number in range(11)]


class Part:
    """A part that notes when it is asked. `promise`: its stable_until(); None: it says nothing."""

    def __init__(self, promise=None):
        self.asked, self.promises_asked = [], []
        if promise is not None:
            self._promise, self.stable_until = promise, self._stable_until

    def _stable_until(self, job_state, cluster_state):
        self.promises_asked.append(job_state.now)
        return self._promise(job_state.now)


class AcceptAll(Part):
    def accept(self, new_jobs, cluster_state, job_state):
        self.asked.append(job_state.now)
        return new_jobs


class InOrder(Part):
    def schedule(self, job_state, cluster_state):
        self.asked.append(job_state.now)
        return Schedule.ordered(job_state)


class JobByJob(Part):
    """Job i gets GPU i, by an allocation that is made anew every time, as a user's policy may do."""

    def place(self, schedule, cluster_state, job_state):
        self.asked.append(job_state.now)
        return Allocation.from_dict({row: (row,) for row in schedule.jobs.tolist()})


class Never(Part):
    def terminate(self, job_state, cluster_state):
        self.asked.append(job_state.now)
        return np.empty(0, dtype=np.int64)


def always(now):
    return math.inf


def played(
    tmp_path, *, jobs="a,0,1,1000", clock="rounds", skip=True, on_round=None, max_rounds=None, **parts
):
    """Runs the loop with these parts (by default all promise to decide alike for ever); returns the parts."""
    used = {
        "admission": AcceptAll(always),
        "scheduler": InOrder(always),
        "placement": JobByJob(always),
        "termination": Never(always),
    } | parts
    experiment = Experiment(
        workload=trace(tmp_path / "jobs.csv", jobs),
        cluster="1x4",
        clock=clock,
        round_s=100.0,
        max_rounds=max_rounds,
    )
    run = ByHand(experiment, termination=used["termination"])
    deciding = {name: part for name, part in used.items() if name != "termination"}
    loop.run(run.manager, *run.states, **deciding, skip=skip, on_round=on_round)
    return {**used, "manager": run.manager, "job_state": run.job_state}


# -- rounds that are passed over ----------------------------------------------------------------------------


def test_nothing_is_asked_between_events_when_all_parts_promise(tmp_path):
    """At 0 s the job starts. At 100 s the plan is empty, and promises count: until the job ends at 1000 s."""
    parts = played(tmp_path)
    assert parts["scheduler"].asked == [0, 100, 1000]
    assert parts["manager"].rounds == 3
    assert parts["job_state"].columns.finish_s[0] == 1000


@pytest.mark.parametrize(
    ("name", "silent"),
    [("admission", AcceptAll), ("scheduler", InOrder), ("placement", JobByJob), ("termination", Never)],
)
def test_a_part_without_stable_until_is_asked_every_round(tmp_path, name, silent):
    """One part that says nothing is enough; the others are then asked every round as well."""
    parts = played(tmp_path, **{name: silent()})
    assert parts["scheduler"].asked == EVERY_ROUND
    assert parts["scheduler"].promises_asked == [], "no promise would help"


def test_skip_false_executes_every_round(tmp_path):
    parts = played(tmp_path, skip=False)
    assert parts["scheduler"].asked == EVERY_ROUND


def test_the_earliest_promise_counts(tmp_path):
    """The scheduler is sure until 350 s, the placement until 720 s: the loop goes on at 400, 500, ... s."""
    parts = played(
        tmp_path,
        scheduler=InOrder(lambda now: 350.0 if now < 350 else math.inf),
        placement=JobByJob(lambda now: 720.0 if now < 720 else math.inf),
    )
    assert parts["scheduler"].asked == [0, 100, 400, 800, 1000]


def test_a_promise_until_a_boundary_wakes_the_loop_at_that_boundary(tmp_path):
    parts = played(tmp_path, scheduler=InOrder(lambda now: 400.0 if now < 400 else math.inf))
    assert parts["scheduler"].asked == [0, 100, 400, 1000]


def test_a_promise_that_is_over_passes_nothing_over(tmp_path):
    parts = played(tmp_path, scheduler=InOrder(lambda now: now))
    assert parts["scheduler"].asked == EVERY_ROUND


def test_a_submission_wakes_the_loop_whatever_was_promised(tmp_path):
    """`b` comes at 420 s and starts at 500 s; it ends at 650 s, which is seen at 700 s."""
    parts = played(tmp_path, jobs="a,0,1,1000 b,420,1,150")
    assert parts["scheduler"].asked == [0, 100, 500, 600, 700, 1000]
    assert parts["job_state"].columns.finish_s[:2].tolist() == [1000, 650]


def test_promises_are_not_asked_for_after_a_plan_that_changed_something(tmp_path):
    """A placement that does not vouch for itself is asked once more: at 0 s `a` was launched."""
    parts = played(tmp_path)
    assert parts["scheduler"].promises_asked[0] == 100


def test_a_part_whose_answer_never_changes_need_not_be_asked_for_its_promise(tmp_path):
    class Plain(InOrder):
        stable_until = for_ever

    parts = played(tmp_path, scheduler=Plain())
    assert parts["scheduler"].asked == [0, 100, 1000]


def test_max_rounds_counts_rounds_that_are_passed_over(tmp_path):
    parts = played(tmp_path, max_rounds=5)
    manager = parts["manager"]
    assert (manager.now, manager.truncated, manager.rounds) == (500, True, 2)


# -- which parts a round asks -------------------------------------------------------------------------------


def test_admission_is_asked_only_while_jobs_wait(tmp_path):
    class OneAtATime(AcceptAll):
        def accept(self, new_jobs, cluster_state, job_state):
            return super().accept(new_jobs, cluster_state, job_state)[:1]

    parts = played(tmp_path, jobs="a,0,1,250 b,0,1,250", admission=OneAtATime())
    assert parts["admission"].asked == [0, 100]
    assert parts["job_state"].columns.admit_s[:2].tolist() == [0, 100]
    assert parts["scheduler"].asked == [0, 100, 200, 300, 400]


def test_the_order_within_a_round(tmp_path):
    """Completions, early ends, admission, scheduling, placement: each sees what those before it did."""
    seen = []

    class Ends(Never):
        def terminate(self, job_state, cluster_state):
            seen.append(("end", cluster_state.free_gpus, job_state.active.tolist()))
            return super().terminate(job_state, cluster_state)

    class Accepts(AcceptAll):
        def accept(self, new_jobs, cluster_state, job_state):
            seen.append(("accept", new_jobs.tolist(), job_state.active.tolist()))
            return super().accept(new_jobs, cluster_state, job_state)

    class Orders(InOrder):
        def schedule(self, job_state, cluster_state):
            seen.append(("schedule", job_state.active.tolist()))
            return super().schedule(job_state, cluster_state)

    class Places(JobByJob):
        def place(self, schedule, cluster_state, job_state):
            seen.append(("place", schedule.jobs.tolist(), cluster_state.allocation.as_dict()))
            return super().place(schedule, cluster_state, job_state)

    parts = {"termination": Ends(), "admission": Accepts(), "scheduler": Orders(), "placement": Places()}
    played(tmp_path, jobs="a,0,1,100 b,40,1,500", max_rounds=2, **parts)
    assert seen == [
        ("end", 4, []),
        ("accept", [0], []),
        ("schedule", [0]),
        ("place", [0], {}),
        ("end", 4, []),  # at 100 s `a` has completed
        ("accept", [1], []),
        ("schedule", [1]),
        ("place", [1], {}),
    ]


# -- on_round -----------------------------------------------------------------------------------------------


def test_on_round_is_called_after_every_round_that_is_executed(tmp_path):
    """With the time of the next round, and at the end with the manager that says so."""
    told = []

    def note(manager, job_state):
        told.append((job_state.now, manager.now, manager.terminate))

    played(tmp_path, on_round=note)
    assert told == [(0, 100, False), (100, 1000, False), (1000, 1000, True)]


# -- the events clock ---------------------------------------------------------------------------------------


def test_events_wake_the_loop_at_submissions_and_completions_only(tmp_path):
    parts = played(tmp_path, jobs="a,0,1,1000 b,420,1,150", clock="events", scheduler=InOrder())
    assert parts["scheduler"].asked == [0, 420, 570, 1000]


def test_a_part_wakes_the_events_clock_when_its_mind_may_change(tmp_path):
    """It says so of 333 s; and of a moment from now on, which the quantum of 50 s puts off."""
    once = InOrder(lambda now: 333.0 if now < 333 else math.inf)
    assert played(tmp_path, clock="events", scheduler=once)["scheduler"].asked == [0, 333, 1000]
    restless = InOrder(lambda now: now + 1 if now < 100 else math.inf)
    parts = played(tmp_path, clock="events:quantum_s=50", scheduler=restless)
    assert parts["scheduler"].asked == [0, 50, 100, 1000]
