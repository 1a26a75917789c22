"""`shortest` and `shortest-gpu`: a line that is sorted only when that decides something gives equal runs."""

import numpy as np
import pytest

from blox import Experiment
from blox.compat.tiresias import whole_line
from support.by_job import figures
from support.traces import trace


def write_jobs(path, seed):
    """Short jobs of few kinds, in whole seconds: many have equally much left at the same time."""
    rng = np.random.default_rng(seed)
    submit = np.cumsum(rng.integers(0, 12, 400))
    jobs = [
        (row, at, rng.choice([1, 1, 2, 4]), rng.choice([12, 24, 36, 48, 96]))
        for row, at in enumerate(submit.tolist())
    ]
    return trace(path, jobs)


@pytest.mark.parametrize("schedule", ["shortest", "shortest-gpu"])
@pytest.mark.parametrize("seed", range(8))
def test_sorting_less_often_changes_nothing(tmp_path, monkeypatch, schedule, seed):
    experiment = Experiment(
        workload=write_jobs(tmp_path / "jobs.csv", seed),
        cluster="1x20",
        compat=f"tiresias:schedule={schedule},scheme=count",
    )
    asked = []

    def noted(*given, fits=whole_line._all_fit):
        asked.append(fits(*given))
        return asked[-1]

    monkeypatch.setattr(whole_line, "_all_fit", noted)
    spared = experiment.run()
    assert 50 < sum(asked) < len(asked) - 50, "both kinds of moments occur"
    monkeypatch.setattr(whole_line, "_all_fit", lambda *given: False)
    sorted_always = experiment.run()
    for name in ("first_start_s", "finish_s", "preemptions"):
        assert spared.jobs[name].tolist() == sorted_always.jobs[name].tolist(), name
    assert int(spared.jobs["preemptions"].sum()) > 0


def test_two_who_are_equal_stand_as_at_the_sort_before(run):
    """By hand: at 20 s `wide` (4 x 10 s) and `narrow` (1 x 40 s) have equally much left, and one must go.

    They came in this order, but at 15 s, when everybody ran, `narrow` (45) stood before `wide` (4 x 15).
    """
    jobs = "wide,0,4,30 narrow,0,1,60 brief,10,1,5 urgent,20,2,5"
    found = run(jobs, "1x6", compat="tiresias:schedule=shortest-gpu,scheme=count")
    assert figures(found, "preemptions") == {
        "wide": 1,
        "narrow": 0,
        "brief": 0,
        "urgent": 0,
    }
    assert found.jobs["finish_s"].tolist() == [35.0, 60.0, 15.0, 25.0]
