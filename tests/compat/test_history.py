"""What really happened: jobs start and end when their log says, under the measures of every other run."""

import pytest

from blox import BloxError, Experiment
from blox.experiment.history import LABEL, history_of

TRACE = (
    "job_id,submit_s,gpus,duration_s,tenant,logged_start_s\na,0,2,100,x,7\nb,0,2,50,y,107.5\nc,30,1,40,x,31\n"
)


@pytest.fixture
def trace(tmp_path):
    (tmp_path / "log.csv").write_text(TRACE)
    return str(tmp_path / "log.csv")


def test_jobs_start_and_end_as_logged(trace):
    result = Experiment(workload=trace, cluster="1x3", compat="history").run()
    assert result.jobs["first_start_s"].tolist() == [7, 107.5, 31]
    assert result.jobs["finish_s"].tolist() == [107, 157.5, 71]
    assert result.jobs["waited_s"].tolist() == [7, 107.5, 1]
    assert result.summary["late_starts"] == 0
    assert result.by("tenant")["avg_jct_s"].tolist() == [(107 + 41) / 2, 157.5]


def test_a_cluster_that_is_smaller_than_the_real_one_was_is_told(trace):
    result = Experiment(workload=trace, cluster="1x2", compat="history").run()
    assert result.jobs["first_start_s"].tolist() == [7, 147, 107], "c waits for a, and b for c"
    assert result.summary["late_starts"] == 2


def test_it_stands_beside_the_others_where_the_log_says_so(trace, command, tmp_path):
    shown = command(
        "compare",
        "--workload",
        trace,
        "--cluster",
        "1x3",
        "--scheduler",
        "fifo,las",
        "--overheads",
        "launch=9",
    )
    assert "happened" in shown.out
    without = command(
        "compare", "--workload", trace, "--cluster", "1x3", "--scheduler", "fifo", "--no-history"
    )
    assert "happened" not in without.out
    assert history_of([Experiment(workload=trace)]).label == LABEL
    assert history_of([Experiment(workload=f"{trace}?scale=0.5")]) is None, "another load than it was"
    assert history_of([Experiment(workload="constant:jobs=3")]) is None


def test_a_trace_without_starts_is_refused(tmp_path):
    (tmp_path / "plain.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,5\n")
    with pytest.raises(BloxError, match="the jobs have no column 'logged_start_s'"):
        Experiment(workload=str(tmp_path / "plain.csv"), compat="history").prepare()


def test_the_simulation_is_held_to_it(trace, command, tmp_path):
    out = tmp_path / "out"
    words = ("compare", "--workload", trace, "--cluster", "1x3", "--calibrate")
    shown = command(*words, "--scheduler", "fifo", "--clock", "events", "--no-report", "--out", out)
    assert shown.code == 0, shown.err
    assert "fifo in simulation: jobs wait" in shown.out and "nearly right" in shown.out
    lines = (out / "calibration.csv").read_text().splitlines()
    assert lines[0].startswith("run,by,group,jobs,real_s,simulated_s,change_s,")
    run, by, group, jobs, real, simulated = lines[1].split(",")[:6]
    assert (run, by, group, jobs) == ("fifo", "all", "all jobs", "3")
    assert float(real) == pytest.approx((7 + 107.5 + 1) / 3)
    result = Experiment(workload=trace, cluster="1x3", scheduler="fifo", clock="events").run()
    assert float(simulated) == pytest.approx(result.jobs["waited_s"].mean())
    for wrong in ((trace, "--no-history"), (f"{trace}?scale=0.5",)):
        refused = command("compare", "--cluster", "1x3", "--calibrate", "--workload", *wrong)
        assert refused.code == 2 and "does not say what really happened" in refused.err
