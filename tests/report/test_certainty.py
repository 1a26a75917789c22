"""Where no job waits, runs and sweeps say so: their schedulers cannot be told apart there."""

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
