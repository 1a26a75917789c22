"""The figures of a run, worked out by hand: per job, and the summary over them.

Most tests are about this run, in rounds of 100 s on one node of 4 GPUs, under `fifo-priority`:

    a  submitted   0 s  2 GPUs  250 s               runs 0-100, waits, runs 200-350
    b  submitted  30 s  1 GPU    50 s               runs 100-150 (the boundary after its submission)
    c  submitted 100 s  3 GPUs  100 s  priority 1   runs 100-200; for it, `a` is stopped
"""

import numpy as np
import pytest

from blox.results.metrics import seen_s
from support.by_job import figures

JOBS = "job_id,submit_s,gpus,duration_s,priority a,0,2,250,0 b,30,1,50,0 c,100,3,100,1"


@pytest.fixture
def result(run):
    return run(JOBS, scheduler="fifo-priority", placement="first-free")


@pytest.mark.parametrize(
    ("column", "of_a", "of_b", "of_c"),
    [
        ("submit_s", 0, 30, 100),
        ("admit_s", 0, 100, 100),
        ("first_start_s", 0, 100, 100),
        ("finish_s", 350, 150, 200),
        ("jct_s", 350, 120, 100),
        ("responsiveness_s", 0, 70, 0),
        ("run_s", 250, 50, 100),
        ("queueing_s", 100, 70, 0),
        ("gpu_seconds", 500, 50, 300),
        ("preemptions", 1, 0, 0),
        ("moves", 0, 0, 0),
        ("in_window", 1, 1, 1),
        ("state", "finished", "finished", "finished"),
    ],
)
def test_a_column_of_each_job(result, column, of_a, of_b, of_c):
    assert figures(result, column) == {"a": of_a, "b": of_b, "c": of_c}


def test_the_summary(result):
    summary = result.summary
    assert (summary["jobs"], summary["finished"], summary["submitted"]) == (3, 3, 3)
    assert summary["avg_jct_s"] == (350 + 120 + 100) / 3
    assert summary["median_jct_s"] == 120
    assert summary["p95_jct_s"] == pytest.approx(120 + 0.9 * (350 - 120)), "between the two largest"
    assert summary["p99_jct_s"] == pytest.approx(120 + 0.98 * (350 - 120))
    assert summary["avg_responsiveness_s"] == 70 / 3
    assert summary["avg_queueing_s"] == 170 / 3
    assert (summary["makespan_s"], summary["end_s"]) == (350, 350)
    assert summary["utilisation"] == 200 / 400, "while jobs arrived, from 0 to 100 s: `a` alone"
    assert summary["utilisation_whole_run"] == pytest.approx((500 + 50 + 300) / (4 * 350))
    assert (summary["preemptions"], summary["moves"]) == (1, 0)
    assert summary["wait_arrival_s"] == 70, "b came between two rounds"


def test_waits_add_up_to_all_queueing(result):
    waits = {name: value for name, value in result.summary.items() if name.startswith("wait_")}
    assert sum(waits.values()) == pytest.approx(figures(result, "queueing_s")["a"] + 70)


def test_a_window_bounds_averages_not_the_run(run):
    """Job 1 alone is measured: the averages are its own; GPUs and preemptions are those of the whole run."""
    summary = run(JOBS, scheduler="fifo-priority", placement="first-free", window="1-1").summary
    assert (summary["jobs"], summary["finished"], summary["avg_jct_s"]) == (1, 1, 120)
    assert summary["makespan_s"] == 150 and summary["end_s"] == 200, "its end is seen at 200 s"
    assert summary["utilisation"] == pytest.approx((2 * 100 + 50 + 300) / (4 * 200))
    assert summary["preemptions"] == 1


def test_a_run_that_is_cut_off_counts_what_jobs_have_had(run):
    """After two rounds `a` waits with 150 s to go, and `c` is at its very end, which is not seen any more."""
    result = run(JOBS, scheduler="fifo-priority", placement="first-free", max_rounds=2)
    state, run_s = figures(result, "state"), figures(result, "run_s")
    assert (state["a"], state["c"]) == ("queued", "running") and (run_s["a"], run_s["c"]) == (100, 100)
    assert np.isnan(list(figures(result, "finish_s").values())).all()
    assert result.summary["finished"] == 0 and result.summary["end_s"] == 200
    for name in ("avg_jct_s", "median_jct_s", "p99_jct_s", "avg_queueing_s"):
        assert result.summary[name] is None


def test_jobs_that_were_never_admitted_are_submitted(run):
    result = run("a,0,4,1000 b,0,4,1000", admission="threshold:factor=1", max_rounds=3)
    assert figures(result, "state") == {"a": "running", "b": "submitted"}
    assert np.isnan(figures(result, "admit_s")["b"]) and figures(result, "gpu_seconds")["b"] == 0


def test_fragmentation_is_an_average_over_time(run):
    """Two nodes of 2. For 100 s one GPU is held, and one of three free ones is on its node; then all are."""
    result = run("a,0,1,100 b,300,4,100", "2x2", placement="first-free")
    assert result.summary["fragmentation"] == pytest.approx((100 * (1 / 3)) / 300), "while jobs arrived"
    assert result.summary["fragmentation_whole_run"] == pytest.approx((100 * (1 / 3)) / 400)


def test_a_job_is_seen_at_the_first_round_after_its_submission():
    submit, rounds = np.array([0.0, 1.0, 100.0, 250.0]), np.array([0.0, 100.0, 200.0])
    assert seen_s(submit, rounds, 300.0).tolist() == [0.0, 100.0, 100.0, 300.0]
