"""Columns of one's own: kept from a file or a generator, read by policies, written to jobs.csv."""

import numpy as np
import pytest

from blox import BloxError, Experiment
from blox.results.result import Result
from blox.state.jobs import JobState
from blox.workloads.extra import numbers_or_text
from blox.workloads.spec import draw, workload_from_spec
from blox.workloads.table import JobTable
from blox.workloads.writers import write_trace

TRACE = """job_id,submit_s,gpus,duration_s,importance,sla,code
a,0,1,600,2,gold,007
b,0,1,600,9.5,,008
c,0,1,600,,silver,009
"""
POLICY = """
from dataclasses import dataclass

import numpy as np

from blox import Schedule


@dataclass(frozen=True)
class Important:
    \"\"\"The most important jobs go first.\"\"\"

    column: str = "importance"

    def schedule(self, job_state, cluster_state):
        return Schedule.ordered(job_state, by=-np.nan_to_num(job_state.column(self.column)))
"""


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    return path


def table(*, first_id=0, **extra):
    count = len(next(iter(extra.values())))
    columns = {
        "job_id": range(first_id, first_id + count),
        "submit_s": range(count),
        "gpus": [1] * count,
        "duration_s": [60.0] * count,
    }
    return JobTable.build(columns, source="test", extra=extra)


def test_a_csv_keeps_its_columns_only_when_told_to(trace):
    with pytest.raises(BloxError, match=r"(?s)no column is called 'importance'.*extra=keep.*extra=ignore"):
        workload_from_spec(str(trace)).table  # noqa: B018
    assert workload_from_spec(f"{trace}?extra=ignore").table.extra == {}
    jobs = workload_from_spec(f"{trace}?extra=keep").table
    assert list(jobs.extra) == ["importance", "sla", "code"]
    assert np.array_equal(jobs.column("importance"), [2.0, 9.5, np.nan], equal_nan=True)
    assert jobs.column("sla").tolist() == ["gold", "", "silver"]
    assert jobs.column("code").tolist() == ["007", "008", "009"]
    assert "kept the columns importance (numbers), sla (text), code (text)" in jobs.notes


def test_single_columns_can_be_kept_by_name_from_any_format(trace, tmp_path):
    assert list(workload_from_spec(f"{trace}?keep=sla&extra=ignore").table.extra) == ["sla"]
    with pytest.raises(BloxError, match="no column is called 'importance'"):
        workload_from_spec(f"{trace}?keep=sla").table  # noqa: B018
    with pytest.raises(BloxError, match=r"(?s)no column 'importnce' to keep.*'importance'"):
        workload_from_spec(f"{trace}?keep=importnce&extra=ignore").table  # noqa: B018
    path = tmp_path / "tiresias.csv"
    path.write_text(
        "job_id,num_gpu,submit_time,iterations,model_name,duration,queue\n1,2,0,9,vgg16,60,prod\n"
    )
    assert workload_from_spec(f"tiresias:{path}?keep=queue").table.column("queue").tolist() == ["prod"]


def test_names_that_mean_something_else_are_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("job_id,submit_s,gpus,duration_s,state,importance\na,0,1,60,DONE,1\n")
    with pytest.raises(BloxError, match=r"(?s)called 'state'.*\?keep=importance&extra=ignore"):
        workload_from_spec(f"{path}?extra=keep").table  # noqa: B018
    assert list(workload_from_spec(f"{path}?keep=importance&extra=ignore").table.extra) == ["importance"]
    with pytest.raises(BloxError, match="called 'jct_s'"):
        table(jct_s=[1.0])


@pytest.mark.parametrize("cells", [("500", "700"), ("often", "never")])
@pytest.mark.parametrize("name", ["evictions", "useful_gpu_seconds", "lost_gpu_seconds"])
def test_names_that_only_runs_with_failures_measure_are_refused(tmp_path, name, cells):
    """A workload's own `evictions` would be counted among the interruptions of a run without failures."""
    path = tmp_path / "log.csv"
    path.write_text(f"job_id,submit_s,gpus,duration_s,{name}\na,0,1,60,{cells[0]}\nb,9,2,60,{cells[1]}\n")
    with pytest.raises(BloxError, match=f"no column of your own can be called '{name}'"):
        Experiment(workload=f"{path}?extra=keep", cluster="1x4").run()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", ""], "f"),
        (["1e3", "-2"], "f"),
        (["", ""], "O"),
        (["1", "x"], "O"),
        (["nan"], "O"),
        (["inf"], "O"),
        (["0", "0.5"], "f"),
        (["01"], "O"),
        (["12345678901234567890"], "O"),
    ],
)
def test_a_column_holds_numbers_or_text(cells, kind):
    column = numbers_or_text(cells)
    assert column.dtype.kind == kind
    if kind == "O":
        assert column.tolist() == cells


def test_start_order_and_conversion_take_the_columns_along(trace):
    jobs = workload_from_spec(f"{trace}?extra=keep&start=1").table
    assert jobs.column("sla").tolist() == ["", "silver"]
    shuffled = JobTable.build(
        {"job_id": ["x", "y"], "submit_s": [9.0, 1.0], "gpus": [1, 1], "duration_s": [1.0, 1.0]},
        source="test",
        extra={"weight": [1, 2]},
    )
    assert shuffled.column("weight").tolist() == [2.0, 1.0]
    text = write_trace(workload_from_spec(f"{trace}?extra=keep").table).text
    assert text.splitlines() == TRACE.splitlines()
    assert "importance" in " ".join(write_trace(jobs, "tiresias").notes)


def test_the_state_grows_and_forks_with_the_columns():
    state = JobState()
    for batch in range(3):
        jobs = table(weight=np.arange(200.0) + 200 * batch, sla=["gold"] * 200)
        state.stage(jobs, np.ones(200))
    state.submit(600)
    state.add_new_jobs(state.waiting)
    assert state.column("weight").tolist() == list(range(600))
    twin = state.fork()
    twin.columns.extra["weight"][:] = -1
    assert state.column("weight")[599] == 599 and twin.column("sla")[599] == "gold"


def test_jobs_of_a_batch_without_the_column_have_no_value():
    state = JobState()
    for jobs in (table(weight=[1.0, 2.0]), table(sla=["gold"])):
        state.stage(jobs, np.ones(len(jobs)))
    state.submit(3)
    state.add_new_jobs(state.waiting)
    assert np.array_equal(state.column("weight"), [1.0, 2.0, np.nan], equal_nan=True)
    assert state.column("sla").tolist() == ["", "", "gold"]
    with pytest.raises(BloxError, match="numbers in some jobs and text in others"):
        state.stage(table(weight=["heavy"]), np.ones(1))


def test_batches_of_a_generator_are_joined():
    class Two:
        def batches(self, rng):
            yield table(weight=[1.0])
            yield table(first_id=1, sla=["gold"])

    jobs = draw(Two(), None)
    assert np.array_equal(jobs.column("weight"), [1.0, np.nan], equal_nan=True)
    assert jobs.column("sla").tolist() == ["", "gold"]


def test_a_policy_reads_the_column_and_results_have_it(trace, tmp_path):
    """One GPU, three jobs at once: b (9.5), then a (2), then c, which has no importance."""
    policy = tmp_path / "important.py"
    policy.write_text(POLICY)
    experiment = Experiment(workload=f"{trace}?extra=keep", cluster="1x1", scheduler=f"{policy}:Important")
    result = experiment.run()
    assert result.jobs["first_start_s"].tolist() == [600.0, 0.0, 1200.0]
    result.save(tmp_path / "out")
    again = Result.load(tmp_path / "out")
    assert np.array_equal(again.jobs["importance"], [2.0, 9.5, np.nan], equal_nan=True)
    assert again.jobs["sla"].tolist() == ["gold", "", "silver"]
    assert again.jobs["code"].tolist() == ["007", "008", "009"]


def test_an_unknown_column_is_answered_with_the_known_ones(trace, tmp_path):
    policy = tmp_path / "important.py"
    policy.write_text(POLICY)
    for workload, column, told in (
        (f"{trace}?extra=keep", "importnce", "did you mean 'importance'"),
        (f"{trace}?extra=ignore", "importance", r"valid: .*user.*extra=keep"),
    ):
        scheduler = f"{policy}:Important:column={column}"
        with pytest.raises(BloxError, match=rf"(?s)no column is called '{column}'.*{told}"):
            Experiment(workload=workload, cluster="1x1", scheduler=scheduler).run()


def test_a_policy_cannot_write_to_the_column(trace, tmp_path):
    policy = tmp_path / "important.py"
    policy.write_text(
        POLICY.replace(
            "        return", '        job_state.columns.extra["importance"][0] = 1\n        return'
        )
    )
    with pytest.raises(BloxError, match="changes the state"):
        Experiment(workload=f"{trace}?extra=keep", cluster="1x1", scheduler=f"{policy}:Important").run()


def test_a_policy_that_needs_a_column_says_so_and_is_told_before_it_runs(trace, tmp_path, command):
    policy = tmp_path / "important.py"
    told = POLICY.replace('    column: str = "importance"\n', "")
    told = told.replace("job_state.column(self.column)", 'job_state.column("importance")')
    policy.write_text(
        told.replace("    def schedule", '    needs_columns = ("importance",)\n\n    def schedule')
    )
    scheduler = f"{policy}:Important"
    with pytest.raises(BloxError, match=r"(?s)no column 'importance', which a policy needs.*extra=keep"):
        Experiment(workload=f"{trace}?extra=ignore", cluster="1x1", scheduler=scheduler).prepare()
    Experiment(workload=f"{trace}?extra=keep", cluster="1x1", scheduler=scheduler).prepare()
    checked = command("check", scheduler)
    assert checked.code == 0, checked.out
    policy.write_text(told)
    checked = command("check", scheduler)
    assert checked.code == 1 and "needs_columns = ('importance',)" in " ".join(checked.out.split())
