"""Figure 5: the rule for its verdict, and its runs."""

from pathlib import Path

import numpy as np
import pytest

from blox.reproduce import fig5
from blox.reproduce.page import Done, Setting
from blox.results.result import Result

SOONER = {
    "proportional, the original": 26.0,
    "proportional, ours": 26.0,
    "tune, the original": 14.0,
    "tune, ours": 14.0,
}


def test_it_holds_where_both_modes_agree_and_tune_is_the_quicker():
    assert fig5.judge({"proportional": (0.01, 0.02), "tune": (-0.04, 0.05)}, SOONER).word == "holds"


def test_in_part_where_one_mode_agrees():
    assert fig5.judge({"proportional": (0.01, 0.02), "tune": (-0.06, 0.02)}, SOONER).word == "holds in part"


def test_not_where_none_agrees_or_tune_is_slower():
    apart = {"proportional": (0.2, 0.02), "tune": (0.01, 0.2)}
    assert fig5.judge(apart, SOONER).word == "does not hold"
    slower = {**SOONER, "tune, ours": 27.0}
    assert fig5.judge({"proportional": (0.0, 0.0), "tune": (0.0, 0.0)}, slower).word == "does not hold"


@pytest.mark.parametrize(("jobs", "window"), [(5000, "4000-4999"), (300, "")])
def test_both_simulators_get_the_same_jobs_on_the_same_servers(tmp_path, jobs, window):
    lines = ["job_id,arrival_s,gpus,duration_fair_s", *(f"{i},{i},1,600" for i in range(jobs))]
    (tmp_path / "jobs.csv").write_text("\n".join(lines) + "\n")
    trace = f"synergy:{tmp_path / 'jobs.csv'}"
    cases = fig5.PAGE.cases(Setting(trace=trace))
    assert len(cases) == 4
    assert {(c.experiment.workload, c.experiment.cluster, c.experiment.window) for c in cases} == {
        (trace, fig5.CLUSTER, window)
    }


def test_the_probe_tells_what_differs_at_each_load(monkeypatch):
    """Ours is as quick at 7 jobs an hour, and takes twice as long at 9, where jobs wait for two hours."""
    times = {("tune, ours", 9.0): 2.0}
    monkeypatch.setattr(
        fig5, "jcts_s", lambda each: np.full(9, times.get((each.case.line, each.case.x), 1.0))
    )
    cases = fig5.Loads().cases(Setting())
    waits = {7.0: 0.0, 9.0: 7200.0}
    done = [
        Done(case, Result("", {}, {"avg_queueing_s": waits[case.x]}, {}, {}, {}), Path()) for case in cases
    ]
    rows = fig5.Loads().cause(done).table.rows
    assert rows == (("7", "0.00", "+0.00 %", "0.0 points"), ("9", "2.00", "+100.00 %", "100.0 points"))
