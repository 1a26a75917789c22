"""What every round decided: traced, kept, found again by time, and worked out by running again."""

import numpy as np
import pytest

from blox import Experiment, Result
from blox.explain import Round
from blox.recording.decisions import COLUMNS
from support.traces import trace

CROWDED = {"workload": "gavel:multi=true,offered=1.5,gpus=16", "cluster": "4x4", "jobs": 60}
SETTINGS = {
    "las": {"scheduler": "las"},
    "fifo": {"scheduler": "fifo"},
    "promote": {"scheduler": "promote:policy=las,after_s=7200", "placement": "consolidated"},
    "tiresias": {"scheduler": "tiresias", "clock": "events"},
    "themis": {"scheduler": "themis", "placement": "consolidated"},
    "gavel": {"scheduler": "gavel", "max_rounds": 600},
    "quota": {"scheduler": "srtf", "admission": "quota:user_jobs=1"},
    "failures": {"failures": "mtbf=8h,repair=1h", "overheads": "checkpoint=600"},
    "like Blox": {"compat": "blox:policy=Las,accept=1.2"},
    "like Tiresias": {"compat": "tiresias:schedule=dlas-gpu"},
}


def traced(jobs, tmp_path, cluster="1x4", **settings):
    workload = trace(tmp_path / "jobs.csv", jobs)
    experiment = Experiment(workload=workload, cluster=cluster, round_s=100.0, **settings)
    return experiment.run(trace_decisions=True)


def rows(decision, *names):
    return list(zip(*(decision[name].tolist() for name in names)))


def test_a_round_by_hand(tmp_path):
    # a (3 GPUs) runs 0 to 200; b (4) and, behind it in a strict order, c (1) wait
    result = traced("a,0,3,200 b,0,4,100 c,0,1,100", tmp_path, scheduler="fifo")
    columns = ("time_s", "job", "place", "gpus", "held_gpus", "action", "cause", "free_gpus", "largest_free")
    assert rows(result.decisions.at(50), *columns) == [
        (0, 0, 1, 3, 3, "launch", "", 1, 1),
        (0, 1, 2, 4, 0, "wait", "priority", 1, 1),
        (0, 2, 3, 1, 0, "wait", "priority", 1, 1),
    ]
    assert rows(result.decisions.at(200), "job", "held_gpus", "action", "cause") == [
        (1, 4, "launch", ""),
        (2, 0, "wait", "priority"),
    ]
    found = Round(result.decisions.at(0), result.jobs["job_id"])
    assert found.next_in_line == 1 and found.agrees_with(result.stints)
    assert [found.blocked_by(each) for each in found.standings] == [
        "",
        "GPUs went to jobs ahead of it: a",
        "the order is strict, and ahead of it waits b",
    ]


def test_keys_and_numbers_by_hand(tmp_path):
    # least attained service: at 100 a (4 GPUs) has had 400 GPU-seconds, b and c nothing
    result = traced("a,0,4,200 b,50,2,300 c,50,4,300", tmp_path, scheduler="las")
    found = Round(result.decisions.at(100), result.jobs["job_id"])
    assert [(each.row, each.place, each.keys, each.action) for each in found.standings] == [
        (1, 1, (0.0,), "launch"),
        (2, 2, (0.0,), "wait"),
        (0, 3, (400.0,), "suspend"),
    ]
    assert found.key_names == ["key_1"] and found.next_in_line == 2
    assert found.blocked_by(found.standings[1]) == "GPUs went to jobs ahead of it: b"
    assert found.free_gpus == 2


def test_jobs_that_are_left_out_or_held_have_no_place(tmp_path):
    result = traced("a,0,4,300 b,0,4,100", tmp_path, scheduler="themis:lease=1000")
    (first, *_), (second, *_) = rows(result.decisions.at(0), "place", "action", "cause", "job")
    assert {first, second} == {0, 1}
    result = traced("a,0,4,300 b,0,4,100", tmp_path, admission="threshold:factor=1")
    assert rows(result.decisions.at(0), "job", "place", "action", "cause") == [
        (0, 1, "launch", ""),
        (1, 0, "hold", "admission"),
    ]


@pytest.mark.parametrize("name", SETTINGS)
def test_running_again_gives_what_was_traced(name):
    experiment = Experiment(**{**CROWDED, **SETTINGS[name]})
    result = experiment.run(trace_decisions=True)
    times = result.decisions["time_s"]
    for time_s in (*np.quantile(times, (0.2, 0.5, 0.9)).tolist(), float(np.median(times)) + 17):
        again, kept = experiment.prepare().decision_at(time_s), result.decisions.at(time_s)
        assert len(kept["job"]) == len(set(kept["job"].tolist())) > 0
        assert Round(kept, result.jobs["job_id"]).agrees_with(result.stints)
        for column in (*COLUMNS, *(name for name in again if name.startswith("key_"))):
            assert again[column].tolist() == kept[column].tolist() or np.array_equal(
                again[column], kept[column], equal_nan=True
            ), column


ENDS = {
    "with a window": {"window": "2-9", "max_rounds": None},
    "at a limit": {"max_rounds": 150},
    "with the last job": {"jobs": 10},
}
SMALL = {name: settings for name, settings in SETTINGS.items() if "compat" not in settings}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", SMALL)
def test_every_round_agrees_with_the_stints_up_to_the_end_of_the_run(name, end):
    result = Experiment(**{**CROWDED, **SMALL[name], **ENDS[end]}).run(trace_decisions=True)
    times = np.unique(result.decisions["time_s"])
    assert len(times) > 5
    for time_s in times:
        found = Round(result.decisions.at(time_s), result.jobs["job_id"])
        assert found.agrees_with(result.stints, result.jobs["state"]), time_s


def test_the_last_round_by_hand(tmp_path):
    # at 200 a, the window, ends: c (3 GPUs, nothing attained) takes the GPUs of a and b, and d goes on
    jobs = "a,0,1,200 b,0,2,900 d,0,1,900 c,150,3,900"
    result = traced(jobs, tmp_path, scheduler="las", window="0-0")
    found = Round(result.decisions.at(200), result.jobs["job_id"])
    assert result.summary["end_s"] == found.time_s == 200
    assert {(each.row, each.held_gpus, each.action) for each in found.standings} == {
        (1, 0, "suspend"),
        (2, 1, "keep"),
        (3, 3, "launch"),
    }
    states = result.jobs["state"]
    assert found.agrees_with(result.stints, states)
    for row, other in ((1, "running"), (2, "queued"), (3, "queued")):
        wrong = states.copy()
        wrong[row] = other
        assert not found.agrees_with(result.stints, wrong)
    before = Round(result.decisions.at(100), result.jobs["job_id"])
    assert before.time_s == 0 and before.agrees_with(result.stints, states)


def test_a_job_that_moves_in_the_last_round_holds_its_new_gpus_alone():
    job = {"time_s": 200.0, "job": 0, "held_gpus": 2}
    found = Round({name: np.array([value]) for name, value in job.items()}, np.array(["a"], dtype=object))
    stints = {
        "job": np.array([0, 0, 0, 0, 0]),
        "gpu": np.array([0, 1, 2, 2, 3]),
        "start_s": np.array([0, 0, 0, 200, 200]),
        "end_s": np.array([200, 200, 200, 200, 200]),
    }
    assert found.agrees_with(stints, np.array(["running"], dtype=object))
    assert not found.agrees_with(stints, np.array(["queued"], dtype=object))


@pytest.mark.parametrize("name", SETTINGS)
def test_tracing_changes_nothing_else(name, tmp_path):
    experiment = Experiment(**{**CROWDED, **SETTINGS[name]})
    experiment.run().save(tmp_path / "plain")
    experiment.run(trace_decisions=True).save(tmp_path / "traced")
    files = {path.name for path in (tmp_path / "plain").iterdir()}
    assert {path.name for path in (tmp_path / "traced").iterdir()} == files | {"decisions.parquet"}
    for file in files - {"timing.json"}:
        assert (tmp_path / "plain" / file).read_bytes() == (tmp_path / "traced" / file).read_bytes(), file


def test_decisions_are_kept_with_the_results_and_go_with_them(tmp_path):
    experiment = Experiment(**CROWDED, scheduler="las")
    result = experiment.run(trace_decisions=True)
    result.save(tmp_path / "x")
    kept = Result.load(tmp_path / "x").decisions
    assert kept is not None and list(kept) == list(result.decisions)
    for name, column in result.decisions.items():
        assert np.array_equal(kept[name], column, equal_nan=column.dtype.kind == "f"), name
    at = result.decisions["time_s"].max() / 2
    assert kept.at(at)["job"].tolist() == result.decisions.at(at)["job"].tolist()
    experiment.run().save(tmp_path / "x")  # replaces the whole
    assert Result.load(tmp_path / "x").decisions is None
    assert not (tmp_path / "x" / "decisions.parquet").exists()


def test_every_executed_round_with_jobs_is_there():
    result = Experiment(**CROWDED, scheduler="las").run(skip=False, trace_decisions=True)
    times = np.unique(result.decisions["time_s"])
    assert set(np.diff(times)) == {300.0}
