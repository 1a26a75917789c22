"""`blox run`: options, a TOML file and Python give the same bytes."""

import json
import os
import pty
import re
import subprocess
import sys
import tomllib

import pytest

import blox
from blox.disk.toml_text import to_toml
from support.traces import trace

SAME_EVERY_TIME = ("experiment.toml", "jobs.csv", "summary.json", "rounds.parquet", "stints.parquet")
SETTINGS = {
    "workload": "gavel:multi=true,load=12", "cluster": "8x4", "admission": "threshold:factor=1.5",
    "scheduler": "las", "placement": "consolidated", "round_s": 600.0, "window": "20-60", "seed": 3,
}  # fmt: skip
OPTIONS = [
    "--workload", "gavel:multi=true,load=12", "--cluster", "8x4", "--admission", "threshold:factor=1.5",
    "--scheduler", "las", "--placement", "consolidated", "--round", 600, "--window", "20-60", "--seed", 3,
]  # fmt: skip


@pytest.fixture
def three_jobs(tmp_path):
    trace(tmp_path / "trace.csv", "a,0,4,700 b,10,2,900 c,20,4,100")
    return tmp_path / "trace.csv"


def same(first, second):
    return all((first / name).read_bytes() == (second / name).read_bytes() for name in SAME_EVERY_TIME)


def test_options_a_file_and_python_give_the_same_bytes(command, tmp_path):
    assert command("run", *OPTIONS, "--out", tmp_path / "options").code == 0
    (tmp_path / "mine.toml").write_text(to_toml(SETTINGS))
    assert command("run", tmp_path / "mine.toml", "--out", tmp_path / "file").code == 0
    blox.Experiment(**SETTINGS).run().save(tmp_path / "python")
    assert same(tmp_path / "options", tmp_path / "file")
    assert same(tmp_path / "options", tmp_path / "python")


def test_its_own_experiment_runs_again_to_the_byte(command, tmp_path):
    command("run", *OPTIONS, "--out", tmp_path / "first")
    again = command("run", tmp_path / "first" / "experiment.toml", "--out", tmp_path / "again")
    assert (again.code, again.err) == (0, "")
    assert same(tmp_path / "first", tmp_path / "again")


def test_another_process_gives_the_same_bytes(command, tmp_path):
    command("run", *OPTIONS, "--out", tmp_path / "here")
    words = [
        sys.executable,
        "-m",
        "blox.cli.main",
        "run",
        *map(str, OPTIONS),
        "--out",
        str(tmp_path / "there"),
    ]
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert same(tmp_path / "here", tmp_path / "there")


def test_options_override_the_file(command, tmp_path):
    (tmp_path / "mine.toml").write_text(to_toml(SETTINGS))
    command("run", tmp_path / "mine.toml", "--scheduler", "fifo", "--label", "plain", "--out", tmp_path / "x")
    kept = tomllib.loads((tmp_path / "x" / "experiment.toml").read_text())
    assert (kept["scheduler"], kept["label"], kept["placement"]) == ("fifo", "plain", "consolidated")


def test_the_output_has_the_figures_and_why_jobs_waited(command):
    answer = command("run", *OPTIONS)
    assert answer.code == 0
    for words in ("scheduler", "JCT", "p95", "las", "why jobs waited", "admission", "fragmentation"):
        assert words in answer.out
    for words in ("fairness", "rho", "largest", "Jain"):
        assert words in answer.out
    assert answer.err == ""


def test_the_report_lies_beside_the_results(command, tmp_path):
    answer = command("run", *OPTIONS, "--out", tmp_path / "x", "--report")
    assert (tmp_path / "x" / "report.html").stat().st_size > 100_000
    assert str(tmp_path / "x" / "report.html") in answer.out


def test_a_report_needs_a_directory(command):
    answer = command("run", "--report")
    assert (answer.code, "--out DIR" in answer.err) == (2, True)


def test_earlier_results_are_replaced_and_anything_else_is_refused_at_once(command, tmp_path, monkeypatch):
    assert command("run", "--jobs", 5, "--out", tmp_path / "x").code == 0
    assert command("run", "--jobs", 6, "--out", tmp_path / "x").code == 0
    assert json.loads((tmp_path / "x" / "summary.json").read_text())["jobs"] == 6
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.jpg").write_text("dear")
    monkeypatch.setattr("blox.experiment.prepared.Prepared.run", lambda *_: pytest.fail("it ran"))
    answer = command("run", "--jobs", 5, "--out", tmp_path / "photos")
    assert answer.code == 2
    assert "holds 'me.jpg', which is not from an earlier run" in answer.err
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["me.jpg"]


def test_a_changed_trace_is_refused_before_anything_runs(command, tmp_path, three_jobs, monkeypatch):
    command("run", "--workload", three_jobs, "--cluster", "2x4", "--out", tmp_path / "x")
    experiment = tmp_path / "x" / "experiment.toml"
    three_jobs.write_text(three_jobs.read_text().replace("900", "901"))
    with monkeypatch.context() as patch:
        patch.setattr("blox.experiment.prepared.Prepared.run", lambda *_: pytest.fail("it ran"))
        answer = command("run", experiment)
    assert answer.code == 2
    assert "the file behind workload" in answer.err and "trace.csv" in answer.err
    assert "--ignore-checksum" in answer.err
    assert command("run", experiment, "--ignore-checksum").code == 0
    assert command("run", experiment, "--workload", "constant:jobs=3").code == 0


def test_a_changed_policy_file_is_refused_as_well(command, tmp_path):
    policy = tmp_path / "mine.py"
    policy.write_text(
        "from blox import Schedule\n\n\nclass Mine:\n    def schedule(self, job_state, cluster_state):\n"
        "        return Schedule.ordered(job_state)\n"
    )
    words = ["--scheduler", f"{policy}:Mine", "--jobs", 5, "--out", tmp_path / "x"]
    assert command("run", *words).code == 0
    assert command("run", tmp_path / "x" / "experiment.toml").code == 0
    policy.write_text(policy.read_text() + "\n# another thought\n")
    answer = command("run", tmp_path / "x" / "experiment.toml")
    assert answer.code == 2
    assert "the file behind scheduler" in answer.err
    assert command("run", tmp_path / "x" / "experiment.toml", "--scheduler", "las").code == 0


def test_a_generator_that_gives_other_jobs_is_noted(command, tmp_path):
    command("run", "--jobs", 5, "--out", tmp_path / "x")
    experiment = tmp_path / "x" / "experiment.toml"
    experiment.write_text(experiment.read_text().replace('workload_sha256 = "', 'workload_sha256 = "0'))
    answer = command("run", experiment)
    assert answer.code == 0
    assert answer.err.startswith("note: the jobs are not those of")


def test_unfinished_jobs_are_counted(command):
    answer = command("run", "--jobs", 50, "--max-rounds", 60)
    assert re.search(r"fifo: \d+ of \d+ jobs finished", answer.out)


def test_progress_is_for_terminals_only_and_never_in_the_output(tmp_path):
    words = [sys.executable, "-m", "blox.cli.main", "run", "--jobs", "50"]
    silent = subprocess.run(words, capture_output=True, text=True, check=True)
    assert silent.stderr == ""
    controller, terminal = pty.openpty()
    with os.fdopen(controller, "rb"), os.fdopen(terminal, "wb") as shown:
        seen = subprocess.run(words, stdout=subprocess.PIPE, stderr=shown, check=True, text=True)
    figures = [line for line in seen.stdout.splitlines() if "fifo" not in line]
    assert figures == [line for line in silent.stdout.splitlines() if "fifo" not in line]


@pytest.mark.parametrize("name", ["run", "compare", "sweep"])
@pytest.mark.parametrize("place", ["/proc/results", "/proc/a/b", "file/results"])
def test_a_place_that_cannot_be_written_is_told_before_the_run(command, tmp_path, monkeypatch, name, place):
    if place.startswith("/proc") and not os.path.isdir("/proc"):
        pytest.skip("absent: /proc")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr("blox.experiment.prepared.Prepared.run", lambda *_: pytest.fail("it ran"))
    answer = command(name, "--workload", "constant", "--jobs", 3, "--out", place)
    assert answer.code == 2
    assert f"{place}: cannot be" in answer.err and ".blox-" not in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
