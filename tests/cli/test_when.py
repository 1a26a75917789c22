"""`blox when` as a user meets it."""

import pytest

from blox import Experiment
from blox.cli.main import answer


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("when") / "run"
    experiment = Experiment(
        workload="philly:load=40,max_gpus=4", jobs=80, cluster="4x4", performance="duration"
    )
    experiment.run().save(folder)
    return str(folder)


def test_the_answer_with_its_spread(results, capfd):
    assert answer(["when", results, "--at", "90m", "--gpus", "4", "--duration", "2h"]) == 0
    said = capfd.readouterr().out
    assert "fifo at 90 min:" in said and "A job of 4 GPUs and 2 h, submitted then, would" in said
    assert "% of the draws)" in said and "learnt, 20 draws" in said


def test_another_backend_than_the_simulation_is_told_not_to_be_looked_ahead_with(tmp_path, capfd):
    file = tmp_path / "mine.py"
    file.write_text(
        "from blox.backends.simulation import SimulationBackend\nclass Mine(SimulationBackend): ...\n"
    )
    for backend in ("simulation", f"{file}:Mine"):
        folder = tmp_path / backend[-4:]
        Experiment(workload="constant:jobs=9", cluster="1x4", backend=backend).run().save(folder)
        asked = ["when", str(folder), "--at", "1h", "--gpus", "1", "--duration", "2h", "--belief", "told"]
        assert answer(asked) == 0
        said = capfd.readouterr().out
        assert ("looks ahead used the backend simulation, not " in said) == (backend != "simulation")


def test_an_oracle_has_no_spread(results, capfd):
    assert (
        answer(["when", results, "--at", "1h", "--gpus", "1", "--duration", "2h", "--belief", "oracle"]) == 0
    )
    said = capfd.readouterr().out
    assert "draws" not in said and "Durations of the other jobs: oracle." in said


def test_nodes_that_are_not_up_are_told(tmp_path, monkeypatch, capfd):
    """The answer names the nodes that it does not count with, and when it counts with the others again."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,8,3600\n")
    (tmp_path / "failed.csv").write_text("node,down,up\n1,1800,2400\n")
    question = ["--at", "1800", "--gpus", "8", "--duration", "10m", "--belief", "oracle"]
    said = {}
    for name, failures in (
        ("drained", "drain:node=1,at=1800,lasts=600,notice=300"),
        ("failed", "trace:failed.csv"),
    ):
        Experiment(workload="a.csv", cluster="2x4", failures=failures).run().save(name)
        assert answer(["when", name, *question]) == 0
        said[name] = capfd.readouterr().out
    assert "start  after 40 min\n" in said["drained"]
    assert "node-1 is down: the answer counts with it again after 10 min, when it is" in said["drained"]
    assert "start  never\n" in said["failed"] and "In 1 of 1 draws it would not start." in said["failed"]
    assert "node-1 is down: the answer does not count with it, because it is not known" in said["failed"]


def test_of_many_nodes_that_are_not_up_some_are_named(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "failed.csv").write_text("node,down,up\n" + "".join(f"{n},60,\n" for n in range(7)))
    failures = "trace:failed.csv+drain:node=7,at=120,lasts=2h"
    Experiment(workload="constant:jobs=3", cluster="9x4", failures=failures).run().save("run")
    assert answer(["when", "run", "--at", "10m", "--gpus", "36", "--duration", "10m"]) == 0
    said = capfd.readouterr().out
    assert "node-4 is down" in said and "node-5" not in said
    assert "3 more nodes are draining or down; it does not count with 2 of them." in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--at", "soon", "--gpus", "1", "--duration", "2h"], "'soon' is not a duration"),
        (["--at", "never", "--gpus", "1", "--duration", "2h"], "it must be a time"),
        (["--at", "1h", "--gpus", "1", "--duration", "0"], "it must be a time"),
        (["--at", "1h", "--gpus", "99", "--duration", "2h"], "the cluster has 16"),
        (["--at", "1h", "--gpus", "1", "--duration", "2h", "--with", "gpus=3"], "an option of its own"),
        (["--at", "1h", "--gpus", "1", "--duration", "2h", "--with", "priority=high"], "priority is 'high'"),
        (
            ["--at", "1h", "--gpus", "1", "--duration", "2h", "--with", "model=Foo"],
            "no model is called 'Foo'",
        ),
    ],
)
def test_wrong_questions_are_answered_in_words(results, options, words, capfd):
    assert answer(["when", results, *options]) == 2
    assert words in capfd.readouterr().err


def test_a_directory_without_results(tmp_path, capfd):
    assert answer(["when", str(tmp_path), "--at", "1h", "--gpus", "1", "--duration", "2h"]) == 2
    assert "experiment.toml is missing" in capfd.readouterr().err
