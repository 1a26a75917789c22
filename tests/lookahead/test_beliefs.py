"""What is believed of durations: draws from finished jobs, attained service, what policies are told."""

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.lookahead.beliefs import belief_named, check_told, survival
from blox.workloads.columns import LONGEST_S, SHORTEST_S
from support.moments import moments
from support.traces import HEADER, trace
from support.worlds import World


def state_of(*jobs, at_s, gpus=8):
    """The states at a time, on as many GPUs as there can be jobs: (submission, duration) of each."""
    rows = tuple((f"j{i}", at, 1, length, "", "", "", "", 0) for i, (at, length) in enumerate(jobs))
    for moment in moments(World(rows, (gpus,)).experiment()):
        if moment.job_state.now >= at_s:
            return moment.job_state
    raise AssertionError("the run is over")


def test_survival_is_kaplan_and_meier_s():
    """Jobs of 1, 2 and 4 have finished, two have done 2 and 3 so far: by hand, 4/5, 4/5 x 3/4, 0."""
    done, finished = np.array([4.0, 2.0, 1.0, 3.0, 2.0]), np.array([True, True, True, False, False])
    at_s, share = survival(done, finished)
    assert at_s.tolist() == [1.0, 2.0, 4.0]
    assert share == pytest.approx([0.8, 0.6, 0.0])


def test_learnt_work_is_that_of_a_longer_job_that_has_finished():
    job_state = state_of((0, 600), (0, 900), (0, 1800), (0, 90_000), at_s=3000)
    seen = {belief_named("learnt")(job_state, draw).work_s[3] for draw in range(50)}
    assert seen == {6000.0}, "it has done 3000 s, more than any other: as much again"
    job_state = state_of((0, 600), (0, 900), (0, 1800), (0, 90_000), at_s=900)
    draws = [belief_named("learnt")(job_state, draw).work_s for draw in range(200)]
    assert {work[2] for work in draws} == {1800.0}, "after 900 s: two have finished, by then, of 600 and 900"
    job_state = state_of((0, 600), (0, 1200), (0, 90_000), (900, 90_000), at_s=1500)
    seen = {belief_named("learnt")(job_state, draw).work_s[3] for draw in range(200)}
    assert seen == {1200.0, 2400.0}, "it has done 600 s: one of 1200 s has finished, one goes on"


def test_a_job_keeps_its_luck_as_others_come():
    jobs = ((0, 600), (0, 1200), (0, 9000), (1200, 9000), (1200, 9000))
    few, more = state_of(*jobs, at_s=1500), state_of(*jobs, (1300, 500), at_s=1500)
    learnt = belief_named("learnt")
    for draw in range(20):
        assert learnt(few, draw).work_s.tolist() == learnt(more, draw).work_s[: len(jobs)].tolist()
    assert len({learnt(few, draw).work_s[3] for draw in range(20)}) == 3, "of 600, 1200 and 3000 s"


@pytest.mark.parametrize("spec", ["learnt", "none", "told", "noisy:sigma=1"])
def test_the_work_of_a_finished_job_is_what_it_has_done(spec):
    job_state = state_of((0, 600), (0, 900), (0, 9000), at_s=1200)
    for draw in range(5):
        assert belief_named(spec)(job_state, draw).work_s[:2].tolist() == [600.0, 900.0]


def test_without_any_knowledge_a_job_needs_as_much_again_as_it_has_done():
    job_state = state_of((0, 9000), (300, 9000), (600, 9000), at_s=900, gpus=2)
    believed = belief_named("none")(job_state, 0)
    assert believed.work_s.tolist() == [1800.0, 1200.0, 750.0], "the third has done nothing: the median"
    assert believed.expected_s.tolist() == believed.work_s.tolist(), "policies ahead see the same"


def test_told_is_what_policies_see_and_noisy_errs_by_sigma():
    job_state = state_of((0, 9000), (0, 12_000), at_s=300)
    told = belief_named("told")(job_state, 0)
    assert told.work_s.tolist() == [9000.0, 12_000.0] and told.expected_s is None
    wrong = np.array([belief_named("noisy:sigma=0.5")(job_state, draw).work_s[0] for draw in range(400)])
    assert np.log(wrong / 9000).std() == pytest.approx(0.5, rel=0.15)


def test_a_job_that_has_outlived_what_was_told_goes_on_a_little():
    job_state = state_of((0, 9000), at_s=3000)
    job_state.columns.expected_s[0] = 1000.0
    assert belief_named("told")(job_state, 0).work_s[0] == pytest.approx(3300.0)


def test_a_job_that_ended_before_it_did_any_work_tells_nothing_of_others(tmp_path):
    """One that a limit ended at 300 s, while it was launching; another one waits."""
    jobs = trace(tmp_path / "jobs.csv", ["a,0,1,9000,300", "b,0,1,9000,"], f"{HEADER},limit_s")
    experiment = Experiment(
        jobs, cluster="1x1", scheduler="fifo", overheads="launch=600", termination="time-limit"
    )
    job_state = next(moment.job_state for moment in moments(experiment) if moment.job_state.now >= 300)
    assert [belief_named("learnt")(job_state, draw).work_s.tolist() for draw in range(3)] == [[0, 3600]] * 3


@pytest.mark.parametrize("spec", ["told", "noisy:sigma=9.9"])
def test_work_that_a_job_can_have_is_believed_of_those_that_go_on(spec):
    job_state = state_of(*[(0, 9000)] * 50, at_s=600, gpus=2)
    job_state.columns.expected_s[[0, 48, 49]] = 1e12, 1e12, 1e-6
    work_s = belief_named(spec)(job_state, 0).work_s
    assert work_s.min() == SHORTEST_S and work_s.max() == LONGEST_S


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("learned", "no belief is called 'learned'"),
        ("noisy:sigma=much", "sigma is not a number"),
        ("learnt:sigma=1", "no option is called 'sigma'"),
    ],
)
def test_wrong_beliefs_are_told_in_words(spec, words):
    with pytest.raises(BloxError, match=words) as fault:
        belief_named(spec)
    assert fault.value.fix


def test_an_oracle_needs_a_run_that_tells_the_truth():
    check_told("oracle", "oracle")
    check_told("learnt", "noisy:sigma=1")
    with pytest.raises(BloxError, match="true durations"):
        check_told("oracle", "noisy:sigma=1")
