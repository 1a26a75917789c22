"""Which jobs ran while another waited."""

import numpy as np
import pytest

from blox.explain import Explanation, Interval, RanInstead, ran_instead
from blox.explain.intervals import RUNNING, Told, by_words, overlaid, stretches, totals_by_reason


def test_the_jobs_that_held_the_gpus_are_named_with_their_gpu_time(run):
    # b waits for all 4 GPUs from 0 to 300, beside a (3 GPUs) and c (1 GPU, which passes it for 200 s);
    # d comes when b runs
    jobs = "a,0,3,300 b,0,4,100 c,0,1,200 d,300,1,100"
    result = run(jobs, scheduler="fifo:strict=false,preempt=false")
    found = ran_instead(result, Explanation(result).history(1))
    assert found == [RanInstead(0, 900.0, 900 / 1100), RanInstead(2, 200.0, 200 / 1100)]


def test_waits_that_running_interrupts_are_added_up(run):
    # one GPU, shared out by least attained service: while one runs, the other waits
    result = run("a,0,1,300 b,0,1,300", "1x1", scheduler="las")
    explanation = Explanation(result)
    for row, other in ((0, 1), (1, 0)):
        waited = result.jobs["waited_s"][row]
        assert [(each.row, each.gpu_s) for each in ran_instead(result, explanation.history(row))] == [
            (other, pytest.approx(waited))
        ]


def test_no_job_ran_instead_of_one_that_waited_for_the_next_round_alone(run):
    result = run("a,0,1,300 b,50,1,300")
    assert ran_instead(result, Explanation(result).history(1)) == []


def test_what_policies_told_cuts_a_history():
    capacity, running = Interval(0.0, 300.0, "capacity"), Interval(300.0, 400.0, "running", (1,))
    held = Interval(-100.0, 0.0, "admission")
    told = [
        Told(-100.0, 0.0, "admission", "quota"),
        Told(100.0, 150.0, "scheduling", "lease"),
        Told(150.0, 200.0, "scheduling", "auction"),
        Told(250.0, 350.0, "scheduling", "lease"),
    ]
    assert overlaid([held, capacity, running], told) == [
        Interval(-100.0, 0.0, "admission", because="quota"),
        Interval(0.0, 100.0, "capacity"),
        Interval(100.0, 150.0, "capacity", because="lease"),
        Interval(150.0, 200.0, "capacity", because="auction"),
        Interval(200.0, 250.0, "capacity"),
        Interval(250.0, 300.0, "capacity", because="lease"),
        running,
    ]
    assert overlaid([held, capacity, running], []) == [held, capacity, running]
    free = Interval(0.0, 300.0, "fragmentation")
    assert overlaid([free], told[3:])[-1] == Interval(250.0, 300.0, "scheduler", because="lease")


def test_waits_told_in_the_same_words_are_one_row():
    """Three causes, one reason of the policy: one row, its causes by length; neighbours in time are one."""
    lost = "the auction was not won"
    history = [
        Interval(0.0, 10.0, "arrival"),
        Interval(10.0, 40.0, "priority", because=lost),
        Interval(40.0, 100.0, "capacity", because=lost),
        Interval(100.0, 200.0, RUNNING, (3,)),
        Interval(200.0, 205.0, "scheduler", because=lost),
        Interval(205.0, 215.0, "capacity"),
    ]
    rows = by_words(totals_by_reason(history))
    assert [(row.causes, row.seconds) for row in rows] == [
        (("capacity", "priority", "scheduler"), 95.0),
        (("capacity",), 10.0),
        (("arrival",), 10.0),
    ]
    assert rows[0].words == lost
    assert [(part.start_s, part.end_s, part.causes, part.running) for part in stretches(history)] == [
        (0.0, 10.0, ("arrival",), False),
        (10.0, 100.0, ("capacity", "priority"), False),
        (100.0, 200.0, (RUNNING,), True),
        (200.0, 205.0, ("scheduler",), False),
        (205.0, 215.0, ("capacity",), False),
    ]


def test_jobs_that_waited_for_several_causes_of_one_row_count_once():
    seconds = {("priority", "x"): np.array([1.0, 0.0, 2.0]), ("capacity", "x"): np.array([5.0, 0.0, 0.0])}
    (row,) = by_words(seconds)
    assert row.causes == ("capacity", "priority") and row.seconds.tolist() == [6.0, 0.0, 2.0]
