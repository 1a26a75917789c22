"""Pollux in the loop: it learns, resizes, sets batch sizes, and keeps to what jobs and nodes allow."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from blox import Experiment, Schedule
from blox.checks import check
from blox.clock import Events
from blox.errors import BloxError
from blox.registry import build
from blox.schedulers.pollux import Pollux
from blox.schedulers.pollux.policy import restarts
from blox.state.jobs import JobState
from support.runs import run_with

ELASTIC = Experiment(
    workload="elastic:jobs=12,load=30,max_gpus=16", cluster="4x4", performance="goodput", round_s=60.0,
    scheduler="pollux", overheads="launch=30,restart=30", seed=1,
)  # fmt: skip


@pytest.mark.parametrize(
    "spec", ["pollux:beliefs=oracle,p=1,interval_s=600", "pollux:avoid_interference=false"]
)
def test_variants_conform(spec):
    report = check(spec, "scheduling")
    assert report.ok, report


class Watched:
    """Pollux, with a note of every answer."""

    def __init__(self, policy):
        self.policy, self.seen = policy, []

    def schedule(self, job_state, cluster_state):
        answer: Schedule = self.policy.schedule(job_state, cluster_state)
        if len(job_state.active):
            self.seen.append((job_state.now, answer))
        return answer


def watched(experiment, policy):
    watch = Watched(policy)
    return run_with(experiment, scheduler=watch), watch.seen


def test_a_learning_job_starts_with_one_gpu_and_at_most_doubles():
    result, seen = watched(ELASTIC, Pollux())
    assert result.summary["finished"] == 12
    largest: dict[int, int] = {}
    for _, answer in seen:
        for row, gpus in zip(answer.jobs.tolist(), answer.gpus.tolist()):
            assert gpus <= max(2 * largest.get(row, 0), 1)
            largest[row] = max(largest.get(row, 0), gpus)
    assert max(largest.values()) >= 4
    assert any((answer.config > 0).any() for _, answer in seen)


def test_an_oracle_needs_no_steps():
    _, seen = watched(ELASTIC, Pollux(beliefs="oracle"))
    assert max(max(answer.gpus.tolist(), default=0) for _, answer in seen[:3]) > 1


def test_it_reallocates_no_more_often_than_it_is_told():
    _, seen = watched(ELASTIC, Pollux(interval_s=600.0))
    changes = [
        now
        for (_, before), (now, after) in pairwise(seen)
        if any(after.pinned.get(row) != ids for row, ids in before.pinned.items() if row in after.pinned)
    ]
    assert changes and min(np.diff(changes), default=600) >= 600


def test_under_the_events_clock_it_is_not_asked_every_second():
    experiment = replace(ELASTIC, clock="events", workload="elastic:jobs=3,load=60,max_gpus=8")
    for clock, scheduler, quantum_s in (
        ("events", "pollux", 60.0),
        ("events", "pollux:interval_s=120", 120.0),
        ("events:quantum_s=7", "pollux", 7.0),
        ("events", "las", 1.0),
    ):
        assert replace(experiment, clock=clock, scheduler=scheduler).prepare().clock == Events(quantum_s)
    result = experiment.run()
    assert result.summary["finished"] == 3
    assert result.timing["rounds_executed"] < 100, "jobs' own events, and every minute"


def test_the_same_seed_gives_the_same_run_and_another_does_not():
    one, same, other = (replace(ELASTIC, seed=seed).run().jobs["jct_s"] for seed in (1, 1, 2))
    assert one.tolist() == same.tolist() != other.tolist()


def test_restarts_do_not_count_a_stop_before_the_next_start():
    job_state = JobState()
    job_state._grow(3)
    job_state.columns.moves[:3] = [0, 2, 1]
    job_state.columns.preemptions[:3] = [0, 1, 1]
    job_state.columns.held_gpus[:3] = [0, 4, 0]
    assert restarts(np.arange(3), job_state).tolist() == [0, 3, 1]


@pytest.mark.parametrize(
    "option", ["p=2", "population=1", "restart_s=-1", "beliefs=none", "profiles=no.toml"]
)
def test_wrong_options_are_told(option):
    with pytest.raises(BloxError):
        build("scheduling", f"pollux:{option}")
