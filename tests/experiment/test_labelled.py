"""Labels of many runs: in order, by value, in TOML, and what they do not change."""

import pytest

from blox import BloxError, Experiment
from blox.experiment.parallel import Task, run_tasks
from blox.experiment.run_folders import finished_outcome, run_directory, run_name
from blox.experiment.sweep import Grid


def grid(label=(), **axes):
    return Grid(Experiment(workload="constant", jobs=2), axes, tuple(label))


def labels(found):
    return [experiment.label for experiment in found.experiments()]


def test_labels_follow_the_order_of_the_runs_whatever_the_seed():
    found = grid(["base,better"], scheduler=["fifo", "las"], seed=[1, 2])
    assert len(found.experiments()) == 4
    assert {(e.scheduler, e.label) for e in found.experiments()} == {("fifo", "base"), ("las", "better")}


def test_in_a_sweep_over_loads_a_label_per_policy_is_enough():
    found = grid(["base", "better"], scheduler=["fifo", "las"], round_s=[60.0, 300.0, 600.0])
    assert {(e.scheduler, e.label) for e in found.experiments()} == {("fifo", "base"), ("las", "better")}


def test_single_values_can_be_named():
    found = grid(["Mine=las:by=time", "Small=2x4"], scheduler=["fifo", "las:by=time"], cluster=["2x4", "4x4"])
    assert {(e.scheduler, e.label) for e in found.experiments()} == {("fifo", ""), ("las:by=time", "Mine")}
    sorted_out = found.labels(found.experiments())
    assert sorted_out.names(["2x4", "4x4"]) == ["Small", "4x4"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["a", "b", "c"], "3 labels for 2 runs(.|\n)*--label NAME=VALUE, such as a=fifo"),
        (["a", "a"], "the label 'a' is given twice"),
        (["a,"], "a label is empty"),
        (["a=lsa"], "1 labels for 2 runs"),
    ],
)
def test_faults(given, told):
    with pytest.raises(BloxError, match=told):
        grid(given, scheduler=["fifo", "las"]).experiments()


def test_labels_in_toml_come_back():
    table = {"scheduler": ["fifo", "las"], "label": ["base", "better"]}
    found = Grid.from_table(table, where="test")
    assert labels(found) == ["base", "better"]
    assert Grid.from_table(found.to_table(), where="test") == found
    with pytest.raises(BloxError, match="label is 3"):
        Grid.from_table({"label": [3, "x"]}, where="test")


def test_a_label_is_part_of_the_folder_and_does_not_run_anything_again(tmp_path):
    plain = Experiment(workload="constant", jobs=2, cluster="2x4")
    named = Experiment(workload="constant", jobs=2, cluster="2x4", label="as it was")
    assert run_name(plain).startswith("fifo-constant-s0-") and run_name(named).startswith(
        "as-it-was-constant-s0-"
    )
    task = Task(plain, run_directory(tmp_path, plain))
    assert run_tasks([task], 1)[0].error is None
    again = Task(named, run_directory(tmp_path, named))
    assert again.directory == task.directory
    outcome = finished_outcome(again)
    assert outcome is not None and outcome.result.label == "as it was"


def test_files_have_short_names(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\nfrom blox import Schedule\n\n\n"
        "@dataclass(frozen=True)\nclass Mine:\n"
        '    """In order."""\n\n    rate: float = 1.0\n\n    def schedule(self, job_state, cluster_state):\n'
        "        return Schedule.ordered(job_state, by=job_state.submit_s * self.rate)\n"
    )
    (tmp_path / "a-trace.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,60\n")
    experiment = Experiment(workload=str(tmp_path / "a-trace.csv"), scheduler=f"{tmp_path / 'mine.py'}:Mine")
    assert run_name(experiment).startswith("Mine-a-trace-s0-")
    assert experiment.run().label == "Mine"
