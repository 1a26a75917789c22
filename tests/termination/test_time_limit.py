"""Jobs that reach their time limit are ended, where the operator asks for it."""

import pytest

from blox import BloxError, Experiment

TRACE = "job_id,submit_s,gpus,duration_s,limit_s\na,0,1,1000,600\nb,0,1,500,600\nc,0,1,900,\n"


@pytest.mark.parametrize(("spec", "finish"), [("time-limit", 600), ("time-limit:grace=30", 630)])
def test_a_job_ends_at_its_limit(spec, finish, tmp_path):
    (tmp_path / "trace.csv").write_text(TRACE)
    settings = {"workload": str(tmp_path / "trace.csv"), "cluster": "1x2", "clock": "events"}
    jobs = Experiment(**settings, termination=spec).run().jobs
    assert jobs["finish_s"].tolist() == [finish, 500, 1400]
    assert jobs["state"].tolist() == ["ended early", "finished", "finished"]
    assert jobs["end_reason"][0] == "it had reached its time limit"
    assert Experiment(**settings).run().jobs["finish_s"].tolist() == [1000, 500, 1400]


def test_a_rounding_error_below_its_limit_is_at_it(tmp_path):
    """2334.1 - 1500 is a bit less than 834.1: the job went on until the next time its limit was looked at."""
    (tmp_path / "trace.csv").write_text("job_id,submit_s,gpus,duration_s,limit_s\na,1500,1,2000,834.1\n")
    settings = {"workload": str(tmp_path / "trace.csv"), "cluster": "1x1", "termination": "time-limit"}
    assert Experiment(**settings, clock="events:quantum_s=100").run().jobs["finish_s"].tolist() == [2334.1]
    rounds = Experiment(**settings, round_s=0.1)  # 2334.1 is a boundary
    for skip in (True, False):
        assert rounds.run(skip=skip).jobs["finish_s"][0] == pytest.approx(2334.1)


def test_a_grace_below_zero_is_refused():
    with pytest.raises(BloxError, match="'-1' is not a duration"):
        Experiment(workload="constant:jobs=1", termination="time-limit:grace=-1").prepare()
