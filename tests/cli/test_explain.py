"""`blox explain`: intervals with their causes, and totals that add up to the summary."""

import itertools

import numpy as np
import pytest

from blox import Experiment, Result
from blox.explain import ARRIVAL, EVICTION, RUNNING, Explanation, places, totals_of
from blox.recording.recorder import CAUSES as OF_SCHEDULING
from blox.recording.wait_causes import SCHEDULER

CAUSES = (*OF_SCHEDULING, ARRIVAL)
CROWDED = {"workload": "gavel:multi=true,offered=1.5,gpus=16", "cluster": "4x4", "jobs": 120}
VARIANTS = {
    "las": {"scheduler": "las"},
    "strict": {"scheduler": "fifo"},
    "held": {"scheduler": "srtf", "admission": "threshold:factor=1.2", "placement": "consolidated"},
    "quota": {"scheduler": "las", "admission": "quota:user_jobs=1", "placement": "consolidated"},
    "window": {"scheduler": "srtf", "window": "20-60"},
    "cut off": {"scheduler": "las", "max_rounds": 2000},
    "events": {"scheduler": "srtf", "clock": "events"},
    "compat": {"compat": "blox:policy=Las,accept=1.2"},
    "overheads": {"scheduler": "las", "overheads": "launch=30,restart=60"},
    "failures": {"failures": "mtbf=8h,repair=1h", "overheads": "restart=60,checkpoint=600"},
    "failures of jobs": {"failures": "job_mtbf=10h", "max_rounds": 900},
    "drains": {"scheduler": "srtf", "failures": "drain:node=0+1,at=20h,lasts=9h,notice=1h"},
    "auctions": {"scheduler": "themis", "placement": "consolidated"},
    "time shares": {"scheduler": "gavel", "max_rounds": 900},
    "failures, events": {"failures": "mtbf=8h,repair=1h", "overheads": "checkpoint=600", "clock": "events"},
}


def causes_of(result):
    """Why jobs may wait in a run."""
    return (*CAUSES, *(cause for cause in (SCHEDULER, EVICTION) if f"wait_{cause}_s" in result.summary))


@pytest.fixture(scope="module", params=VARIANTS, ids=str)
def result(request):
    return Experiment(**{**CROWDED, **VARIANTS[request.param]}).run()


def test_what_the_jobs_waited_adds_up_to_the_summary(result):
    explanation = Explanation(result)
    by_history = dict.fromkeys(causes_of(result), 0.0)
    for row in range(len(result.jobs["job_id"])):
        for cause, seconds in totals_of(explanation.history(row)).items():
            by_history[cause] += seconds
    at_once = {cause: float(seconds.sum()) for cause, seconds in explanation.waits().items()}
    for cause in causes_of(result):
        expected = pytest.approx(result.summary[f"wait_{cause}_s"], rel=1e-9, abs=1e-6)
        assert by_history[cause] == expected, cause
        assert at_once[cause] == expected


def test_the_causes_add_up_to_all_queueing(result):
    jobs, end_s = result.jobs, result.summary["end_s"]
    end = np.where(np.isnan(jobs["finish_s"]), end_s, jobs["finish_s"])
    queueing = float((end - jobs["submit_s"] - jobs["run_s"]).sum())
    waited = sum(result.summary[f"wait_{cause}_s"] for cause in causes_of(result))
    assert waited == pytest.approx(queueing, rel=1e-9)


def test_a_run_without_a_queue_waits_for_rounds_alone():
    summary = Experiment(workload="constant:every_s=450", cluster="8x4", jobs=9).run().summary
    assert summary["avg_queueing_s"] * 9 == summary["wait_arrival_s"] == 4 * 150
    assert all(summary[f"wait_{cause}_s"] == 0 for cause in OF_SCHEDULING)


def test_a_history_is_without_gaps_and_runs_as_long_as_the_job(result):
    explanation = Explanation(result)
    end_s = result.summary["end_s"]
    for row in range(len(result.jobs["job_id"])):
        history = explanation.history(row)
        if not history:
            continue
        assert history[0].start_s == result.jobs["submit_s"][row]
        for this, after in itertools.pairwise(history):
            assert this.end_s == pytest.approx(after.start_s)
        finish = result.jobs["finish_s"][row]
        assert history[-1].end_s == pytest.approx(end_s if np.isnan(finish) else finish)
        ran = sum(interval.seconds for interval in history if interval.state == RUNNING)
        assert ran == pytest.approx(result.jobs["run_s"][row])
        used = {len(interval.gpus) for interval in history if interval.state == RUNNING}
        assert used <= {result.jobs["gpus"][row]}


def test_all_causes_are_met():
    met = dict.fromkeys(CAUSES, 0.0)
    for variant in VARIANTS.values():
        summary = Experiment(**{**CROWDED, **variant}).run().summary
        for cause in CAUSES:
            met[cause] += summary[f"wait_{cause}_s"]
    assert all(seconds > 0 for seconds in met.values()), met


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    place = tmp_path_factory.mktemp("explain") / "run"
    Experiment(**CROWDED, scheduler="las", admission="threshold:factor=2").run().save(place)
    return place


def test_the_jobs_that_waited_longest(command, directory):
    answer = command("explain", directory, "--limit", 5)
    assert (answer.code, answer.err) == (0, "")
    for words in (
        "admission",
        "priority",
        "capacity",
        "fragmentation",
        "arrival",
        "all 120 jobs of the run waited",
        "The jobs that waited longest",
    ):
        assert words in answer.out


def test_what_the_window_waited_is_told_beside_the_run(command, tmp_path):
    Experiment(**CROWDED, scheduler="srtf", window="20-60").run().save(tmp_path / "x")
    assert "; the 41 of the window" in command("explain", tmp_path / "x").out


def test_one_job_over_time(command, directory):
    explanation = Explanation(Result.load(directory))
    row = int(np.argmax(explanation.result.jobs["preemptions"]))
    job_id = explanation.result.jobs["job_id"][row]
    answer = command("explain", directory, "--job", job_id, "--limit", 6)
    assert (answer.code, answer.err) == (0, "")
    assert f"Job {job_id} (" in answer.out
    assert "preempted" in answer.out and "more: --limit" in answer.out
    assert "node-" in answer.out


def test_a_sentence_sums_a_job_up(run):
    result = run("first,0,4,3600 second,100,4,600", scheduler="fifo", round_s=300.0)
    assert Explanation(result).sentence(1) == (
        "Job second (4 GPUs) waited 58.3 min of its 68.3 min: 55 min because too few GPUs were free or came "
        "free; 3.33 min because it had come between two rounds; it was never interrupted and finished."
    )


def test_nobody_waited(command, tmp_path):
    Experiment(workload="constant", cluster="8x4", jobs=5).run().save(tmp_path / "x")
    assert "None of the 5 jobs waited" in command("explain", tmp_path / "x").out


def test_an_unknown_job_is_answered_with_near_ones(command, directory):
    answer = command("explain", directory, "--job", "1199")
    assert answer.code == 2
    assert "did you mean '119'" in answer.err and "120 jobs" in answer.err


def test_a_directory_without_results_is_told(command, tmp_path):
    answer = command("explain", tmp_path)
    assert answer.code == 2
    assert "experiment.toml is missing" in answer.err


def test_gpus_are_told_by_node():
    assert places((2, 3, 4, 5, 7), {"cluster": "2x4"}) == "node-0: 2-3, node-1: 4-5 7"
    assert places((2, 3), {"cluster": "gone.toml"}) == "2-3"
