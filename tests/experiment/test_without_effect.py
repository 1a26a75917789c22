"""Settings that change nothing in a run are named with its results."""

import pytest

from blox import Experiment
from blox.state.plan import NO_ROWS

SETTINGS = {"workload": "philly:load=4,jobs=5,max_gpus=4", "cluster": "1x4"}
ELASTIC = {"workload": "elastic:load=4,jobs=5,max_gpus=4", "cluster": "1x4"}


class Silent:
    """Reads what jobs report without saying so."""

    def terminate(self, job_state, cluster_state):
        job_state.metric("loss")
        return NO_ROWS


def told(**settings):
    assumed = Experiment(**SETTINGS | settings).run().experiment["provenance"].get("assumed", [])
    return [text for text in assumed if "--" in text]


@pytest.mark.parametrize(
    "settings, words",
    [
        (
            {"clock": "events", "round_s": 60.0},
            "the events clock has no rounds: --round 60 is not used",
        ),
        (
            {"termination": "time-limit"},
            "no job has a time limit (limit_s): --termination time-limit ends none",
        ),
        ({"reports": "loss"}, "no policy reads what jobs report: --reports loss is not used"),
        (
            {"overheads": "launch=5,resize=20"},
            "no job can be resized: --overheads resize=20 is not used",
        ),
    ],
)
def test_a_setting_that_changes_nothing_is_named(settings, words):
    assert told(**settings) == [words]


@pytest.mark.parametrize(
    "settings",
    [
        {"round_s": 60.0},
        {"clock": "events"},
        {"reports": "loss", "termination": "loss"},
        {"reports": "loss", "termination": Silent()},
        {"overheads": "resize=20", **ELASTIC},
    ],
)
def test_nothing_is_said_of_one_that_may_change_something(settings):
    assert told(**settings) == []


def test_nothing_is_said_of_time_limits_that_jobs_have(tmp_path):
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,limit_s\na,0,1,600,900\n")
    assert told(workload=str(tmp_path / "jobs.csv"), termination="time-limit") == []
