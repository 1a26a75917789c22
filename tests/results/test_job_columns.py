"""The columns of jobs.csv: every one that a run can write is declared, over runs that together write all."""

import pytest

from blox import Experiment
from blox.results.result import Result
from blox.workloads.columns import COLUMNS
from blox.workloads.extra import COUNTED, MEASURED, TAKEN

PHILLY = {"workload": "philly:load=8,max_gpus=4", "cluster": "2x4"}
LOSSES = """job_id,submit_s,gpus,duration_s,loss_threshold,loss_target
a,0,1,6000,0.01,
b,0,2,6000,,0.5
"""
RUNS = {
    "plain": PHILLY,
    "failures": {
        **PHILLY,
        "failures": "mtbf=1d,repair=4h,job_mtbf=3d",
        "overheads": "checkpoint=1800,restart=60",
    },
    "tariff": {**PHILLY, "prices": "2.5", "power": "300/60"},
    "links": {**PHILLY, "cluster": "v100=1x8:links=p3.16xlarge"},
    "termination": {
        "workload": "losses.csv",
        "cluster": "2x4",
        "termination": "loss:threshold=0.002",
        "reports": "loss",
    },
    "tiresias": {**PHILLY, "scheduler": "tiresias:queues=2,threshold=3200"},
    "gavel": {
        "workload": "gavel:load=5.6,job_types=true",
        "cluster": "v100=4x4,p100=4x4,k80=4x4",
        "scheduler": "gavel:policy=max_min_fairness_packed",
        "performance": "throughputs",
    },
    "synergy": {
        "workload": "synergy",
        "cluster": "4x8:cpu=24,memory_gb=500",
        "placement": "synergy:mode=tune",
        "performance": "sensitivity",
    },
    "elastic": {"workload": "elastic", "cluster": "8x4", "scheduler": "optimus"},
    "synthesizer": {**PHILLY, "auto": "scheduler=fifo,srtf;every=20"},
    "preset": {**PHILLY, "compat": "tiresias:schedule=dlas-gpu,scheme=count"},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One small run of each kind, by name."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "losses.csv").write_text(LOSSES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return {name: Experiment(**settings, jobs=10).run() for name, settings in RUNS.items()}


def test_no_workload_can_use_the_name_of_a_column_that_a_run_writes(results):
    for name, result in results.items():
        assert [column for column in result.jobs if column not in TAKEN] == [], name


def test_every_declared_column_is_written_by_one_of_these_runs(results):
    written = {column for result in results.values() for column in result.jobs}
    assert written - set(COLUMNS) == {*MEASURED, *COUNTED}


def test_columns_have_the_same_type_when_results_are_loaded_again(results, tmp_path):
    for name, result in results.items():
        result.save(tmp_path / name)
        again = Result.load(tmp_path / name)
        assert {key: column.dtype for key, column in again.jobs.items()} == {
            key: column.dtype for key, column in result.jobs.items()
        }, name


def test_what_a_policy_counts_has_the_same_type_when_it_is_loaded_again(policy_file, tmp_path):
    spec = policy_file(
        """
        @dataclass(frozen=True)
        class Mine:
            '''First come, first served.'''

            def schedule(self, job_state, cluster_state):
                return Schedule.ordered(job_state)

            def job_columns(self, job_state):
                n = job_state.submitted
                return {
                    "promotions": np.ones(n, dtype=np.int32),
                    "turns": np.arange(n),
                    "late": np.arange(n) > 3,
                    "word": np.array(["x"] * n),
                }
        """
    )
    result = Experiment(scheduler=spec, workload="constant", jobs=5).run()
    result.save(tmp_path / "out")
    again = Result.load(tmp_path / "out")
    for name in ("promotions", "turns", "late", "word"):
        assert again.jobs[name].dtype == result.jobs[name].dtype, name
        assert again.jobs[name].tolist() == result.jobs[name].tolist(), name


def test_the_page_on_semantics_tells_what_every_column_is(project):
    text = (project / "docs" / "semantics.md").read_text(encoding="utf-8")
    section = text.partition("## Measures")[2].partition("In the summary:")[0]
    plain = {"admit_s", "first_start_s", "finish_s", "in_window"}  # times and flags that their names explain
    first_cells = " ".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| "))
    assert [name for name in {*MEASURED, *COUNTED} - plain if f"`{name}`" not in first_cells] == []
