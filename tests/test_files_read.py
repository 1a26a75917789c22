"""Results say which files they were made from: imported beside a policy, opened, or named by a default."""

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.experiment.run_folders import is_finished
from blox.files_read import FilesRead, changed_since
from support.traces import trace

JOBS = "a,0,1,1000 b,0,1,1000"
MINE = """\
from dataclasses import dataclass
from pathlib import Path

import helper
from blox import Schedule
{more}

@dataclass(frozen=True)
class Mine:
    '''Orders as a module beside it says, and by weights.'''

    weights: str = "weights.csv"

    def schedule(self, job_state, cluster_state):
        from later import sign
        factor = float(Path(self.weights).read_text())
        return Schedule.ordered(job_state, by=sign * factor * helper.key(job_state))
"""


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE.format(more=""))
    (tmp_path / "helper.py").write_text("def key(job_state):\n    return job_state.submit_s\n")
    (tmp_path / "later.py").write_text("sign = 1\n")
    (tmp_path / "weights.csv").write_text("1.0\n")
    return Experiment(workload=trace(tmp_path / "jobs.csv", JOBS), scheduler="./mine.py:Mine")


def test_what_was_imported_and_read_is_kept_with_the_results(experiment):
    lines = experiment.run().experiment["provenance"]["read_files"]
    assert [line.partition("  ")[2] for line in lines] == ["helper.py", "later.py", "weights.csv"]
    assert all(len(line.partition("  ")[0]) == 64 for line in lines)


@pytest.mark.parametrize("changed", ["helper.py", "later.py", "weights.csv", "mine.py"])
def test_a_change_of_any_of_them_is_run_again(experiment, tmp_path, changed):
    experiment.run().save("out")
    assert is_finished(tmp_path / "out", experiment)
    with (tmp_path / changed).open("a") as file:
        file.write("\n")
    assert not is_finished(tmp_path / "out", experiment)


def test_one_that_is_gone_is_a_change(experiment, tmp_path):
    lines = experiment.run().experiment["provenance"]["read_files"]
    (tmp_path / "later.py").unlink()
    assert changed_since(lines) == ["later.py"]


def test_experiment_toml_is_not_run_on_other_files(experiment, tmp_path, command):
    experiment.run().save("out")
    (tmp_path / "helper.py").write_text("def key(job_state):\n    return -job_state.submit_s\n")
    answer = command("run", "out/experiment.toml")
    assert answer.code == 2
    assert "helper.py has changed since this experiment was run" in answer.err
    assert command("run", "out/experiment.toml", "--ignore-checksum").code == 0


def test_a_module_that_has_changed_is_imported_anew(experiment, tmp_path):
    assert experiment.run().summary["finished"] == 2
    (tmp_path / "helper.py").write_text("def key(job_state):\n    raise ValueError('new')\n")
    with pytest.raises(BloxError, match="ValueError: new"):
        experiment.run()


def test_files_of_two_folders_have_modules_of_their_own(tmp_path, monkeypatch):
    specs = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "shared_name.py").write_text(f"label = {name!r}\n")
        (folder / "mine.py").write_text(
            "from dataclasses import dataclass\nimport shared_name\nfrom blox import Schedule\n"
            "@dataclass(frozen=True)\nclass Mine:\n    '''Named.'''\n"
            "    def schedule(self, job_state, cluster_state):\n        return Schedule.ordered(job_state)\n"
            "    def figures(self, job_state):\n"
            f"        return {{'mine': float(shared_name.label == {name!r})}}\n"
        )
        specs.append(f"{folder}/mine.py:Mine")
    workload = trace(tmp_path / "jobs.csv", JOBS)
    runs = [Experiment(workload=workload, scheduler=spec) for spec in (*specs, specs[0])]
    assert [run.run().summary["mine"] for run in runs] == [1.0, 1.0, 1.0]


def test_a_library_is_not_replaced_by_a_file_beside_a_policy(experiment, tmp_path):
    (tmp_path / "json.py").write_text("raise ImportError('not this one')\n")
    (tmp_path / "mine.py").write_text(MINE.format(more="import json\njson.dumps"))
    assert experiment.run().summary["finished"] == 2


def test_a_run_that_reads_nothing_else_says_nothing(tmp_path):
    result = Experiment(workload=trace(tmp_path / "jobs.csv", JOBS)).run()
    assert "read_files" not in result.experiment["provenance"]


def test_what_was_written_does_not_count(tmp_path):
    noted = FilesRead()
    with noted.noting():
        np.save(tmp_path / "own.npy", np.zeros(3))
        np.load(tmp_path / "own.npy")
    assert noted.lines() == []
    (tmp_path / "other.txt").write_text("x")
    with noted.noting():
        (tmp_path / "other.txt").read_text()
    assert [line.rpartition("/")[2] for line in noted.lines()] == ["other.txt"]
