"""Figures by GPU count, tenant, ...: groups, the same definitions as the summary's, and starvation."""

import numpy as np
import pytest

from blox import BloxError, Experiment
from blox.results.flat import flat
from blox.results.groups import groups_of
from blox.results.replications import as_one
from blox.results.statistics import mean_interval

# One node of 4 GPUs, rounds of 300 s. big asks for all of it and waits for the three small ones of tenant x.
TRACE = """job_id,submit_s,gpus,duration_s,tenant,job_type,importance,deadline_s
s1,0,1,600,x,eval,1,1000
s2,0,1,600,x,eval,2,500
s3,0,1,1200,x,train,1,
big,0,4,600,y,train,3,9000
"""


@pytest.fixture
def result(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text(TRACE)
    return Experiment(workload=f"{trace}?extra=keep", cluster="1x4").run()


def test_over_seeds_every_group_has_its_interval():
    """Student's t over the seeds in which a group has jobs; numbers of jobs have none."""
    runs = [Experiment(workload="gavel:load=12,multi=true", jobs=30, seed=seed).run() for seed in range(3)]
    found = as_one(runs).by("gpus")
    each = [run.by("gpus") for run in runs]
    of_one_gpu = np.array([by["avg_jct_s"][0] for by in each])
    half = 4.302652729749464 * of_one_gpu.std(ddof=1) / np.sqrt(3)  # t of 97.5 %, two degrees of freedom
    assert found["avg_jct_s"][0] == pytest.approx(of_one_gpu.mean())
    assert found["avg_jct_s_low"][0] == pytest.approx(of_one_gpu.mean() - half)
    assert found["avg_jct_s_high"][0] == pytest.approx(of_one_gpu.mean() + half)
    assert "jobs_low" not in found and "avg_jct_s_low" not in each[0]


def test_an_interval_of_a_group_is_over_the_seeds_of_its_mean():
    """A group without jobs in a seed has 0 GPU hours there, which count, and no JCT."""
    settings = {"workload": "philly:load=30,max_gpus=8", "cluster": "4x4", "jobs": 40}
    runs = [Experiment(**settings, seed=seed).run() for seed in range(4)]
    found = as_one(runs).by("gpus")
    counts = [[int((run.jobs["gpus"] == gpus).sum()) for run in runs] for gpus in found["gpus"].tolist()]
    assert any(0 in each and sum(map(bool, each)) == 2 for each in counts), "a group of two of four seeds"
    for at, (gpus, each) in enumerate(zip(found["gpus"].tolist(), counts)):
        hours = [run.jobs["gpu_seconds"][run.jobs["gpus"] == gpus].sum() / 3600 for run in runs]
        jct = [float(run.jobs["jct_s"][run.jobs["gpus"] == gpus].mean()) for run, n in zip(runs, each) if n]
        for figure, values in (("finished", each), ("gpu_hours", hours), ("avg_jct_s", jct)):
            wanted = mean_interval(np.array(values))
            got = [found[f"{figure}{end}"][at] for end in ("", "_low", "_high")]
            assert got[0] == pytest.approx(np.mean(values)), (gpus, figure)
            bounds = [np.nan] * 2 if wanted is None else [wanted.low, wanted.high]
            assert got[1:] == pytest.approx(bounds, nan_ok=True), (gpus, figure)


def test_a_breakdown_by_hand(result):
    found = result.by("gpus")
    assert found["gpus"].tolist() == [1, 4] and found["gpus"].dtype.kind == "i"
    assert found["jobs"].tolist() == [3, 1]
    assert found["avg_jct_s"].tolist() == [800.0, 1800.0]
    assert found["max_waited_s"].tolist() == [0.0, 1200.0]
    assert found["avg_slowdown"].tolist() == [1.0, 3.0]
    assert found["gpu_hours"].tolist() == [2400 / 3600, 2400 / 3600]
    assert found["gpu_share"].tolist() == [0.5, 0.5]
    assert found["deadlines"].tolist() == [2, 1] and found["deadlines_missed"].tolist() == [1, 0]
    assert result.by("tenant")["tenant"].tolist() == ["x", "y"]
    assert result.by("job_type")["avg_jct_s"].tolist() == [600.0, 1500.0]
    by_own = result.by("importance")
    assert by_own["importance"].tolist() == [1, 2, 3] and by_own["jobs"].tolist() == [2, 1, 1]


def test_one_group_has_the_figures_of_the_summary():
    result = Experiment(workload="philly:load=10", scheduler="las", window="50-150", seed=1).run()
    result.jobs["everything"] = np.full(len(result.jobs["gpus"]), "all", dtype=object)
    found = result.by("everything")
    same = [
        name for name in found if name in result.summary and name not in ("preemptions", "moves", "gpu_hours")
    ]
    assert {"jobs", "avg_jct_s", "p99_jct_s", "p95_waited_s", "avg_rho", "max_rho", "deadlines"} <= set(same)
    for name in same:
        assert found[name].tolist() == [result.summary[name]], name


def test_groups_add_up_to_the_window():
    result = Experiment(workload="philly:load=10", scheduler="las", window="50-150", seed=1).run()
    for column in ("gpus", "tenant", "user", "model"):
        for most in (None, 3):
            found = result.by(column, most=most)
            assert found["jobs"].sum() == 101, (column, most)
            assert most is None or len(found["jobs"]) <= most + 1


def test_starvation_is_in_the_summary(result):
    assert result.summary["max_waited_s"] == 1200.0
    assert result.summary["waited_by_gpus"] == {
        "1": {"jobs": 3, "avg_s": 0.0, "p95_s": 0.0, "p99_s": 0.0, "max_s": 0.0},
        "4": {"jobs": 1, "avg_s": 1200.0, "p95_s": 1200.0, "p99_s": 1200.0, "max_s": 1200.0},
    }
    assert flat(result.summary)["waited_by_gpus.4.p95_s"] == 1200.0


def test_a_job_that_never_runs_is_not_missing_from_the_longest_waits(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text(TRACE)
    result = Experiment(workload=f"{trace}?extra=keep", cluster="1x4", max_rounds=3).run()
    assert result.summary["max_waited_s"] == 900.0 and result.summary["avg_queueing_s"] == 0.0


def test_an_unknown_column_is_answered_with_the_known_ones(result):
    with pytest.raises(BloxError, match=r"(?s)no column 'tennant'.*did you mean 'tenant'.*importance"):
        result.by("tennant")


@pytest.mark.parametrize(
    ("values", "most", "wanted"),
    [
        ([4, 1, 1, 8], None, {1: [1, 2], 4: [0], 8: [3]}),
        ([1, 2, 3, 4, 5, 8, 9, 64], 6, {"1": [0], "3–4": [2, 3], "5–8": [4, 5], "9": [6], "64": [7]}),
        ([1, 2, 3, 4, 5, 8, 9, 64], 3, {"1": [0], "2": [1], "3–64": [2, 3, 4, 5, 6, 7]}),
        ([0.5, 1.5, 2.5, np.nan], 3, {0.5: [0], 1.5: [1], 2.5: [2], "(none)": [3]}),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], 4, {"0.1–0.3": [0, 1, 2], "0.4–0.5": [3, 4]}),
        (["b", "", "a"], None, {"a": [2], "b": [0], "(none)": [1]}),
        (["a", "b", "b", "c", "d"], 2, {"a": [0], "b": [1, 2], "(2 others)": [3, 4]}),
    ],
)
def test_values_become_groups(values, most, wanted):
    kind = object if isinstance(values[0], str) else None
    found = groups_of(np.array(values, dtype=kind), np.arange(len(values)), most=most)
    told = {group.value: group.rows.tolist() for group in found}
    assert {name: told[name] for name in wanted} == wanted
    assert sorted(row for rows in told.values() for row in rows) == list(range(len(values)))


def test_the_largest_groups_are_those_with_the_most_weight():
    names, weight = np.array(["a", "b", "c"], dtype=object), np.array([1.0, 2.0, 9.0])
    found = groups_of(names, np.arange(3), most=1, weight=weight)
    assert [group.value for group in found] == ["c", "(2 others)"]
