"""Reports of a user's source: one number per job, or words."""

import pytest

from blox import BloxError, Experiment

SOURCE = """from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Mine:
    '''Three numbers, whoever is asked.'''

    reports = ("loss",)

    def epochs_of(self, rows, job_state):
        return np.full(len(rows), 10)

    def report(self, rows, epoch, job_state):
        return {"loss": np.ones(3)}
"""


def test_other_than_one_number_per_job_is_refused_in_words(tmp_path):
    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,3000\n")
    settings = {"workload": str(tmp_path / "jobs.csv"), "reports": f"{tmp_path / 'mine.py'}:Mine"}
    with pytest.raises(BloxError, match="3 values of 'loss' for 1 jobs"):
        Experiment(**settings, termination="loss").run()
