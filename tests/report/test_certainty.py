"""Where no job waits, runs and sweeps say so: their schedulers cannot be told apart there."""

import pytest

from blox import Experiment
from blox.report.certainty import certainty, idle_points, idle_queues

EQUAL = "constant:every_s=600,job_gpus=1,duration_s={},jobs=20"


def test_a_run_in_which_no_job_waits_says_so():
    idle = Experiment(workload=EQUAL.format(3600), cluster="4x4").run()
    busy = Experiment(workload=EQUAL.format(3600), cluster="1x1", label="busy").run()
    (told,) = idle_queues([idle])
    assert told.startswith("no job waits longer than until the next round: any scheduler")
    assert idle_queues([busy]) == []
    assert [line.partition(":")[0] for line in idle_queues([idle, busy])] == ["fifo"]


def test_a_sweep_counts_the_rows_in_which_schedulers_hardly_differ():
    idle = Experiment(workload=EQUAL.format(3600), cluster="4x4").run()
    busy = Experiment(workload=EQUAL.format(3600), cluster="1x1").run()
    assert idle_points([busy, busy]) == []
    assert idle_points([idle, busy])[0].startswith("In 1 of 2 rows jobs wait for less than 1 %")
    assert idle_points([idle, idle])[0].startswith("In all rows")


def test_a_scheduler_that_resizes_jobs_makes_a_difference_though_none_waits():
    settings = {"workload": "elastic:load=6,jobs=8,max_gpus=16", "cluster": "8x4", "round_s": 60.0}
    assert idle_queues([Experiment(**settings, scheduler="optimus").run()]) == []


def test_a_short_trace_needs_more_days_and_a_generator_more_seeds(tmp_path):
    trace = tmp_path / "jobs.csv"
    trace.write_text("job_id,submit_s,gpus,duration_s\na,0,1,600\nb,90,1,600\n")
    assert "a trace of 10 days or more has intervals" in certainty([Experiment(workload=str(trace)).run()])
    assert "--seeds 5 gives intervals" in certainty([Experiment(workload=EQUAL.format(600)).run()])


def test_waiting_after_evictions_is_waiting(tmp_path):
    """Two nodes fail in turn: the one job waits for no GPU, yet for long."""
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,600\n")
    rows = "".join(f"{node},{600 * at + 10},{600 * at + 400}\n" for at in range(20) for node in (0, 1))
    (tmp_path / "outages.csv").write_text(f"node,down,up\n{rows}")
    run = Experiment(
        workload=str(tmp_path / "jobs.csv"),
        cluster="2x1",
        failures=f"trace:{tmp_path / 'outages.csv'}",
        overheads="checkpoint=5",
    ).run()
    assert run.summary["wait_eviction_s"] > 1000 and idle_queues([run]) == []


ONE_JOB = "job_id,submit_s,gpus,duration_s\na,0,4,3600\n"
SPREAD = {"workload": "philly:load=10,models=VGG-16,max_gpus=8,jobs=30", "cluster": "16x4:network_gbps=10"}
ELASTIC = {"workload": "elastic:load=2,jobs=10,max_gpus=8", "cluster": "4x4", "round_s": 60.0}
TYPES = {"workload": "jobs.csv", "cluster": "k80=1x4,v100=1x4"}


@pytest.mark.parametrize(
    "settings, policies",
    [
        (TYPES, [{"scheduler": "fifo"}, {"scheduler": "gavel"}]),
        (SPREAD, [{"placement": "fragments"}, {"placement": "consolidated"}]),
        (ELASTIC, [{"scheduler": "fifo"}, {"scheduler": "pollux"}]),
    ],
)
def test_runs_whose_figures_differ_are_not_said_to_be_alike_though_no_job_waits(
    tmp_path, monkeypatch, settings, policies
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text(ONE_JOB)
    runs = [Experiment(**settings, **each).run() for each in policies]
    assert runs[0].summary["avg_jct_s"] != runs[1].summary["avg_jct_s"]
    assert idle_queues(runs) == idle_points(runs) == []
    assert not any("any scheduler" in told for run in runs for told in idle_queues([run]))


def test_what_changes_speeds_is_kept_with_results(tmp_path):
    def depend(**settings):
        return Experiment(**settings).run().experiment["provenance"]["speeds_depend_on"]

    (tmp_path / "jobs.csv").write_text(ONE_JOB)
    assert depend(**TYPES | {"workload": str(tmp_path / "jobs.csv")}) == ["sharing", "gpu types"]
    assert depend(**SPREAD) == ["sharing", "nodes"] and depend(**SPREAD | {"cluster": "1x64"}) == ["sharing"]
    assert depend(**ELASTIC) == ["size", "sharing", "nodes"]
    assert depend(workload=EQUAL.format(600)) == []


def test_a_run_in_which_jobs_hardly_wait_is_judged_by_the_others_of_its_table():
    settings = {"workload": "philly:load=40,max_gpus=8", "jobs": 20, "cluster": "2x4"}
    fifo, las = (Experiment(**settings, scheduler=name).run() for name in ("fifo", "las"))
    assert idle_queues([las]) and las.summary["median_jct_s"] < fifo.summary["median_jct_s"] / 2
    assert idle_queues([fifo, las]) == idle_points([fifo, las]) == []


def test_jobs_that_one_policy_ends_early_are_not_what_any_policy_would_give(tmp_path):
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,limit_s\na,0,1,6000,600\n")
    whole, cut = (
        Experiment(workload=str(tmp_path / "jobs.csv"), termination=name).run()
        for name in ("completed", "time-limit")
    )
    assert idle_queues([whole]) and idle_queues([cut])
    assert idle_queues([whole, cut]) == []
