"""How jobs fared against what was known of them: slowdown, waiting, deadlines, and ends before the end."""

import numpy as np
import pytest

from blox import Experiment
from blox.explain import Explanation
from blox.results.result import Result

# One GPU. a runs 0-600; b waits for it and runs 600-900; c waits for both and runs from 900 on.
TRACE = """job_id,submit_s,gpus,duration_s,job_type,deadline_s
a,0,1,600,training,
b,0,1,300,evaluation,800
c,0,1,1200,training,9000
"""
TERMINATION = """
from dataclasses import dataclass


@dataclass(frozen=True)
class LongEnough:
    \"\"\"Ends jobs that have run for `most_s` seconds.\"\"\"

    most_s: float = 600.0

    def terminate(self, job_state, cluster_state):
        return job_state.active[job_state.run_s() >= self.most_s]
"""


@pytest.fixture
def run(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text(TRACE)

    def run(**settings):
        return Experiment(workload=str(trace), cluster="1x1", **settings).run()

    return run


def test_slowdown_and_waiting_by_hand(run):
    jobs = run().jobs
    assert jobs["duration_s"].tolist() == [600.0, 300.0, 1200.0]
    assert jobs["slowdown"].tolist() == [600 / 600, 900 / 300, 2100 / 1200]
    assert jobs["waited_s"].tolist() == jobs["queueing_s"].tolist() == [0.0, 600.0, 900.0]
    assert jobs["job_type"].tolist() == ["training", "evaluation", "training"]
    assert np.array_equal(jobs["deadline_s"], [np.nan, 800.0, 9000.0], equal_nan=True)
    assert jobs["end_reason"].tolist() == ["", "", ""]


def test_a_job_that_never_starts_has_waited_until_the_run_ends(run):
    jobs = run(max_rounds=3).jobs
    assert jobs["waited_s"].tolist() == [0.0, 600.0, 900.0]
    assert np.isnan(jobs["queueing_s"]).tolist() == [False, True, True]
    assert np.isnan(jobs["slowdown"]).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("", "{file}:LongEnough:most_s=300.0"),
        ('    reason = "ran long enough"\n', "ran long enough"),
        (
            "    def reason(self, rows, job_state):\n"
            '        return [f"job {job_state.columns.job_id[row]} ran long enough" for row in rows]\n',
            "job {job} ran long enough",
        ),
    ],
)
def test_jobs_ended_early_say_so_and_why(run, tmp_path, reason, told):
    """With 300 s each: a 0-300, b 300-600 (its work is done in that moment), c 600-900."""
    file = tmp_path / "long_enough.py"
    file.write_text(TERMINATION + reason)
    result = run(termination=f"{file}:LongEnough:most_s=300")
    assert result.jobs["finish_s"].tolist() == [300.0, 600.0, 900.0]
    assert result.jobs["state"].tolist() == ["ended early", "finished", "ended early"]
    reasons = [told.format(file=file, job=job) for job in "ac"]
    assert result.jobs["end_reason"].tolist() == [reasons[0], "", reasons[1]]
    assert np.isnan(result.jobs["slowdown"]).tolist() == [True, False, True]
    result.save(tmp_path / "out")
    again = Result.load(tmp_path / "out")
    for name in ("state", "end_reason", "job_type", "duration_s"):
        assert again.jobs[name].tolist() == result.jobs[name].tolist(), name
    assert Explanation(again).sentence(0).endswith(f"was ended early: {reasons[0]}.")


def test_a_results_table_can_be_run_again_as_a_workload(run, tmp_path):
    first = run()
    first.save(tmp_path / "out")
    workload = f"{tmp_path / 'out' / 'jobs.csv'}?extra=ignore"
    again = Experiment(workload=workload, cluster="1x1").run()
    assert again.jobs["finish_s"].tolist() == first.jobs["finish_s"].tolist()
