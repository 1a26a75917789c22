"""Rates of a user's performance model: those with which no job would end are refused, before time passes."""

import pytest

from blox import BloxError, Experiment

MODEL = """from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Mine:
    '''A model with odd rates.'''

    def rate(self, grants, cluster_state, job_state):
        return {rates}
"""


def run(tmp_path, rates):
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,3000\nb,0,1,3000\n")
    (tmp_path / "speeds.py").write_text(MODEL.format(rates=rates))
    return Experiment(
        workload=str(tmp_path / "jobs.csv"), cluster="1x4", performance=f"{tmp_path / 'speeds.py'}:Mine"
    ).run()


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ("0", "a rate is 0"),
        ("np.zeros(len(grants.jobs))", "a rate is 0"),
        ("-1.0", "a rate is -1"),
        ("float('nan')", "a rate is nan"),
        ("np.array([1.0, float('inf')])", "a rate is inf"),
        ("np.ones(7)", r"\(7,\) rates for 2 jobs"),
        ("'fast'", "a rate is 'fast'"),
        ("None", "a rate is nan"),
    ],
)
def test_they_are_refused_in_words(tmp_path, rates, words):
    with pytest.raises(BloxError, match=words) as stop:
        run(tmp_path, rates)
    assert "at 0 s" in stop.value.where and "above 0" in stop.value.fix


@pytest.mark.parametrize("rates", ["0.5", "np.full(len(grants.jobs), 0.5)"])
def test_one_for_all_and_one_for_each_are_taken(tmp_path, rates):
    assert run(tmp_path, rates).jobs["jct_s"].tolist() == [6000.0, 6000.0]
