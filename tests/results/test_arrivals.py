"""How full the cluster was while jobs arrived and over the whole run, and how often jobs were interrupted."""

import numpy as np
import pytest

from blox import Experiment
from blox.report import words
from blox.results.arrivals import Span, arrivals
from blox.results.interruptions import interruptions, kinds_of


@pytest.fixture
def run(tmp_path):
    """Runs jobs given as (submit_s, gpus, duration_s) on one node of 4 GPUs, in rounds of 100 s."""

    def go(*rows, **settings):
        lines = [f"{number},{','.join(map(str, row))}" for number, row in enumerate(rows)]
        path = tmp_path / "jobs.csv"
        path.write_text("\n".join(["job_id,submit_s,gpus,duration_s", *lines]) + "\n")
        return Experiment(**{"workload": str(path), "cluster": "1x4", "round_s": 100, **settings}).run()

    return go


# 0 runs 0-200 on all GPUs, 1 waits 100 s and runs 200-300 on all, 2 runs 400-1400 on one of them
TAIL = [(0, 4, 200), (100, 4, 100), (400, 1, 1000)]


def test_the_tail_after_the_last_submission_is_a_second_figure(run):
    summary = run(*TAIL).summary
    assert (summary["arrivals_begin_s"], summary["arrivals_end_s"]) == (0, 400)
    assert summary["utilisation"] == 1200 / (4 * 400)
    assert summary["utilisation_whole_run"] == (1200 + 1000) / (4 * 1400)
    assert summary["queue_length"] == 100 / 400
    assert summary["queue_length_whole_run"] == 100 / 1400
    assert summary["fragmentation"] == 0
    assert summary["fragmentation_whole_run"] == 1000 / 1400


def test_a_window_is_measured_over_its_own_arrivals(run):
    summary = run(*TAIL, (500, 2, 100), window="1-2").summary
    assert (summary["arrivals_begin_s"], summary["arrivals_end_s"]) == (100, 400)
    assert summary["utilisation"] == (400 + 400) / (4 * 300)
    assert summary["queue_length"] == 100 / 300


def test_jobs_that_come_together_are_measured_over_the_run(run):
    for rows in ([(0, 4, 200), (0, 4, 200)], [(0, 4, 200), (99, 4, 200)]):
        summary = run(*rows).summary
        assert (summary["arrivals_begin_s"], summary["arrivals_end_s"]) == (0, 400)
        assert summary["utilisation"] == summary["utilisation_whole_run"] == 1.0


def test_a_gpu_that_two_jobs_share_counts_once():
    shared = Experiment(
        workload="gavel:load=6,job_types=true",
        jobs=12,
        cluster="v100=2x1",
        scheduler="gavel:policy=max_min_fairness_packed",
    ).run()
    assert shared.jobs["gpu_seconds"].sum() > 2 * shared.summary["end_s"]
    assert 0.5 < shared.summary["utilisation"] <= 1
    assert 0.5 < shared.summary["utilisation_whole_run"] <= 1


def test_averages_over_a_part_of_the_time():
    time_s, values = np.array([0.0, 10.0, 30.0]), np.array([1.0, 3.0, 5.0])
    assert Span(0, 40).average(time_s, values) == (10 + 60 + 50) / 40
    assert Span(5, 20).average(time_s, values) == (5 + 30) / 15
    assert Span(35, 45).average(time_s, values) == 5
    assert Span(-10, 10).average(time_s, values) == 0.5  # nothing was before
    assert Span(7, 7).average(time_s, values) == Span(0, 1).average(np.empty(0), np.empty(0)) == 0


def test_no_jobs_have_no_arrivals():
    assert arrivals(np.empty(0), np.empty(0, dtype=bool), 300.0, 300.0) == Span(0.0, 300.0)


def test_moves_are_interruptions_as_preemptions_are():
    """Pollux resizes jobs where they are: moves, and hardly a preemption."""
    pollux = Experiment(workload="elastic:load=6", jobs=12, cluster="2x4", scheduler="pollux").run()
    moves, preemptions = (int(pollux.jobs[name].sum()) for name in ("moves", "preemptions"))
    assert moves > preemptions
    assert pollux.summary["interruptions"] == moves + preemptions
    _, told = words.headline([pollux])
    assert f"{moves} moves;" in told and "no preemptions" not in told


def test_interruptions_are_the_sum_of_what_a_run_has():
    jobs = {"preemptions": np.array([1, 2]), "moves": np.array([3, 0])}
    assert interruptions(jobs) == 6
    assert interruptions({**jobs, "evictions": np.array([0, 5])}) == 11
    assert interruptions(jobs, moves_are_preemptions=True) == 3  # which count moves themselves
    assert kinds_of({"preemptions": 3, "moves": 3, "interruptions": 6}) == ("preemptions", "moves")
    assert kinds_of({"preemptions": 3, "moves": 3, "interruptions": 3}) == ("preemptions",)


def test_a_job_counts_as_waiting_from_the_first_round_after_its_submission(run):
    """1 comes at 10 and waits for 0: in rounds of 300 s from 300 to 1200, though it has come before."""
    summary = run((0, 4, 1000), (10, 4, 100), round_s=300.0).summary
    assert summary["queue_length_whole_run"] == 900 / 1300
    assert summary["wait_arrival_s"] == 290
