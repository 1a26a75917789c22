"""Metrics of one's own: a function of the result, named on the command line, among the figures everywhere."""

import pytest

from blox import BloxError, Experiment
from blox.catalogue import catalogue
from blox.registry import known_parts
from blox.results.own_metrics import metrics_from_spec, remembered, with_metrics
from blox.results.result import Result

MINE = """
def jobs_seen(result):
    \"\"\"How many jobs it is given.\"\"\"
    return len(result.jobs["job_id"])


def wait_of_s(result, *, gpus: int = 4):
    \"\"\"Average waiting of the jobs that ask for `gpus` GPUs.\"\"\"
    return result.jobs["waited_s"][result.jobs["gpus"] == gpus].mean()


def broken(result):
    return result.jobs["no such column"].mean()


def words(result):
    return "many"


def avg_jct_s(result):
    return 1.0


NUMBER = 3
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    return f"{tmp_path / 'mine.py'}"


def run(metrics, **settings):
    return Experiment(
        workload="philly:load=12,jobs=60,max_gpus=16", cluster="4x4", metrics=metrics, **settings
    ).run()


def test_values_stand_among_the_figures_and_survive_saving(mine, tmp_path):
    result = run(f"{mine}:jobs_seen,{mine}:wait_of_s:gpus=2,waited-over:hours=0.1,evenness:by=user,of=jct_s")
    own = {key: result.summary[key] for key in list(result.summary)[-4:]}
    jobs = result.jobs
    assert own == {
        "jobs_seen": 60.0,
        "wait_of_s:gpus=2": jobs["waited_s"][jobs["gpus"] == 2].mean(),
        "waited-over:hours=0.1": (jobs["waited_s"] > 360).mean(),
        "evenness:by=user,of=jct_s": own["evenness:by=user,of=jct_s"],
    }
    result.save(tmp_path / "out")
    again = Result.load(tmp_path / "out")
    assert again.summary == result.summary
    told = [(metric.key, metric.unit, metric.better) for metric in remembered(again.experiment)]
    assert told[1:3] == [("wait_of_s:gpus=2", "seconds", ""), ("waited-over:hours=0.1", "share", "low")]
    assert again.by("gpus")["jobs_seen"].tolist() == again.by("gpus")["jobs"].tolist()


def test_a_metric_sees_the_jobs_of_the_window_alone(mine):
    result = run(f"{mine}:jobs_seen", window="10-19")
    assert result.summary["jobs_seen"] == 10.0
    assert result.by("gpus")["jobs_seen"].sum() == 10.0


def test_stints_follow_the_jobs_that_are_left():
    result = run("")
    some = result.only([3, 7])
    assert some.jobs["job_id"].tolist() == ["3", "7"]
    for position, row in enumerate((3, 7)):
        for name in ("gpu", "start_s", "end_s"):
            ours, whole = some.stints[name][some.stints["job"] == position], result.stints[name]
            assert ours.tolist() == whole[result.stints["job"] == row].tolist()


def test_evenness_by_hand(tmp_path):
    """One GPU: x's job goes first (slowdown 1), y's waits 600 of 1,200 s (slowdown 2): 9 / (2 x 5)."""
    trace = tmp_path / "trace.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s,tenant\na,0,1,600,x\nb,0,1,600,y\n")
    result = Experiment(workload=str(trace), cluster="1x1", metrics="evenness").run()
    assert result.summary["evenness"] == pytest.approx(0.9)


def test_a_metric_that_fails_does_not_cost_the_run(mine):
    result = run(f"{mine}:broken,{mine}:words,{mine}:avg_jct_s,evenness:of=jtc_s")
    assert result.summary["broken"] is None and result.summary["words"] is None
    assert result.summary["avg_jct_s"] > 1.0
    faults = result.experiment["provenance"]["metric_faults"]
    assert len(faults) == 4
    assert "mine.py:13: KeyError: 'no such column'" in faults[0]
    assert "could not convert string to float: 'many'" in faults[1]
    assert "a figure of every run has that name" in faults[2]
    assert "no column 'jtc_s'" in faults[3]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("{mine}:jobs_sen", "no function is called 'jobs_sen'(.|\n)*'jobs_seen'"),
        ("{mine}:NUMBER", "no function is called 'NUMBER'"),
        ("{mine}:wait_of_s:gpu=2", "no parameter is called 'gpu'(.|\n)*'gpus'"),
        ("{mine}:wait_of_s:gpus=two", "'two' is not a whole number"),
        ("eveness", "no metric part is called 'eveness'(.|\n)*'evenness'"),
        ("evenness,evenness", "'evenness' is given twice"),
        ("{mine}", "a file needs a function behind it"),
    ],
)
def test_faults_are_told_before_anything_runs(mine, spec, told):
    with pytest.raises(BloxError, match=told):
        Experiment(metrics=spec.format(mine=mine)).prepare()


def test_finished_results_can_be_given_more(mine):
    result = with_metrics(run("evenness"), metrics_from_spec(f"{mine}:jobs_seen"))
    assert result.summary["jobs_seen"] == 60.0
    assert [metric.key for metric in remembered(result.experiment)] == ["evenness", "jobs_seen"]


def test_built_in_metrics_are_listed():
    entries = {entry.name: entry for entry in catalogue("metric")[0]}
    assert {"evenness", "waited-over"} <= set(entries)
    assert entries["waited-over"].does.startswith("Share of jobs that waited longer")
    assert [(p.name, p.default) for p in entries["waited-over"].parameters] == [("hours", "24")]


def test_an_installed_function_is_found(monkeypatch):
    class Entry:
        name, value = "installed", "somewhere:installed"

        def load(self):
            def installed(result):
                return 42

            return installed

    monkeypatch.setattr(
        known_parts, "_entry_points", lambda kind: {"installed": Entry()} if kind == "metric" else {}
    )
    monkeypatch.setattr(
        known_parts, "_classes", {kind: dict(known) for kind, known in known_parts._classes.items()}
    )
    assert run("installed").summary["installed"] == 42.0
