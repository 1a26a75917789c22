"""`blox compare`: several schedulers, one table, one report."""

import signal
import subprocess
import sys
import tomllib

import psutil
import pytest

from blox.cli.grids import grid_from
from blox.results.result import Result
from support.waiting import PATIENCE_S, eventually

SMALL = ["--workload", "gavel:multi=true,load=12", "--cluster", "4x4", "--jobs", 40]


def test_several_schedulers_in_one_table_and_one_report(command, tmp_path):
    answer = command(
        "compare", *SMALL, "--scheduler", "fifo,las", "--scheduler", "srtf", "--out", tmp_path / "c"
    )
    assert (answer.code, answer.err) == (0, "")
    for name in ("fifo", "las", "srtf"):
        assert name in answer.out
        assert Result.load(tmp_path / "c" / name).experiment["scheduler"] == name
    assert (tmp_path / "c" / "report.html").is_file()


def test_each_run_has_the_bytes_of_a_run_alone(command, tmp_path):
    command("compare", *SMALL, "--scheduler", "fifo,las", "--out", tmp_path / "c", "--no-report")
    command("run", *SMALL, "--scheduler", "las", "--out", tmp_path / "alone")
    for name in ("experiment.toml", "jobs.csv", "summary.json"):
        assert (tmp_path / "c" / "las" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()


def test_policies_are_crossed_and_presets_stand_beside_them(command, tmp_path):
    words = [
        "--scheduler",
        "fifo,las",
        "--placement",
        "first-free,consolidated",
        "--compat",
        "blox:policy=Las",
    ]
    answer = command("compare", *SMALL, *words, "--processes", 1, "--out", tmp_path / "c", "--no-report")
    assert answer.code == 0, answer.err
    runs = sorted(path.name for path in (tmp_path / "c").iterdir() if path.is_dir())
    assert runs == [
        "blox-policy=Las",
        "fifo-consolidated",
        "fifo-first-free",
        "las-consolidated",
        "las-first-free",
    ]


def runs_in(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_a_synthesizer_stands_beside_the_schedulers_that_it_is_compared_with(command, tmp_path):
    auto = ["--auto", "scheduler=fifo,srtf,las", "--auto", "every=10"]
    answer = command("compare", *SMALL, "--scheduler", "fifo,las", *auto, "--out", tmp_path / "c")
    assert answer.code == 0, answer.err
    assert runs_in(tmp_path / "c") == ["auto", "fifo", "las"] and "auto (srtf: oracle)" in answer.out
    assert "Which policies ruled" in (tmp_path / "c" / "report.html").read_text()
    command("run", *SMALL, *auto, "--out", tmp_path / "alone")
    for name in ("experiment.toml", "jobs.csv", "summary.json", "choices.csv"):
        assert (tmp_path / "c" / "auto" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    words = ["--out", tmp_path / "d", "--no-report", "--processes", 1]
    again = command("compare", tmp_path / "c" / "compare.toml", *words)
    assert again.code == 0 and runs_in(tmp_path / "d") == ["auto", "fifo", "las"]


def test_a_synthesizer_alone_is_compared_with_all_that_it_chooses_among(command, tmp_path):
    auto = ["--auto", "scheduler=fifo,las", "--auto", "admission=accept-all,threshold:factor=1.2"]
    answer = command("compare", *SMALL, *auto, "--out", tmp_path / "c", "--no-report", "--processes", 1)
    assert answer.code == 0, answer.err
    assert len(runs_in(tmp_path / "c")) == 5 and "auto" in runs_in(tmp_path / "c")


def test_options_of_auto_replace_those_of_a_file_one_by_one(command, tmp_path):
    (tmp_path / "e.toml").write_text(
        'workload = "constant"\njobs = 9\n[auto]\nscheduler = ["fifo", "las"]\nevery = 7\nbelief = "none"\n'
    )
    kept = command("run", tmp_path / "e.toml", "--auto", "every=3", "--out", tmp_path / "r")
    assert kept.code == 0, kept.err
    found = Result.load(tmp_path / "r").experiment["auto"]
    assert found == "scheduler=fifo,las;every=3,belief=none"
    again = ["--auto", "scheduler=las,srtf", "--out", tmp_path / "s"]
    assert command("run", tmp_path / "r" / "experiment.toml", *again).code == 0
    assert Result.load(tmp_path / "s").experiment["auto"] == "scheduler=las,srtf;every=3,belief=none"
    grid = grid_from(tmp_path / "e.toml", {"auto": "every=2"}, ("fifo",))
    assert [each.auto for each in grid.experiments()] == ["", "", "scheduler=fifo,las;every=2,belief=none"]


def test_lists_in_a_file_and_the_file_it_writes(command, tmp_path):
    (tmp_path / "c.toml").write_text(
        'workload = "constant"\ncluster = "2x2"\njobs = 9\nscheduler = ["fifo", "las"]\n'
    )
    assert command("compare", tmp_path / "c.toml", "--out", tmp_path / "c", "--processes", 1).code == 0
    kept = tomllib.loads((tmp_path / "c" / "compare.toml").read_text())
    assert kept["sweep"] == {"scheduler": ["fifo", "las"]}
    again = command("compare", tmp_path / "c" / "compare.toml", "--out", tmp_path / "d", "--processes", 1)
    assert (again.code, again.err) == (0, "")
    assert (tmp_path / "d" / "las" / "jobs.csv").read_bytes() == (
        tmp_path / "c" / "las" / "jobs.csv"
    ).read_bytes()


def test_a_mistake_in_the_last_one_is_told_before_the_first_runs(command, tmp_path, monkeypatch):
    monkeypatch.setattr("blox.experiment.prepared.Prepared.run", lambda *_: pytest.fail("it ran"))
    answer = command("compare", *SMALL, "--scheduler", "fifo,lass", "--out", tmp_path / "c", "--processes", 1)
    assert answer.code == 2
    assert "did you mean 'las'?" in answer.err
    assert not (tmp_path / "c").exists()


def test_a_run_that_fails_leaves_the_others(command, tmp_path):
    policy = tmp_path / "bad.py"
    policy.write_text("class Bad:\n    def schedule(self, job_state, cluster_state):\n        return 1 / 0\n")
    words = ["--scheduler", f"las,{policy}:Bad", "--processes", 2]
    answer = command("compare", *SMALL, *words, "--out", tmp_path / "c", "--no-report")
    assert answer.code == 2
    assert "las" in answer.out
    assert "ZeroDivisionError" in answer.err and "bad.py:3" in answer.err and "Traceback" not in answer.err
    assert "1 of 2 runs failed" in answer.err
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == ["compare.csv", "compare.toml", "las"]


def test_a_directory_with_something_else_in_it_is_refused(command, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    answer = command("compare", *SMALL, "--scheduler", "fifo", "--out", tmp_path)
    assert answer.code == 2
    assert "notes.txt" in answer.err


def test_a_process_that_is_killed_is_told_and_the_rest_goes_on(command, tmp_path):
    policy = tmp_path / "dies.py"
    policy.write_text(
        "import os, signal\n\n\nclass Dies:\n    def schedule(self, job_state, cluster_state):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    words = ["--scheduler", f"{policy}:Dies,las,fifo", "--processes", 2]
    answer = command("compare", *SMALL, *words)
    assert answer.code == 2
    assert f"killed by signal {int(signal.SIGKILL)}" in answer.err
    assert "las" in answer.out and "fifo" in answer.out


def test_workers_are_gone_after_the_parent_was_ended(tmp_path):
    words = [sys.executable, "-m", "blox.cli.main", "compare", "--workload", "gavel:load=100", "--window"]
    words += ["9000-90000", "--scheduler", "las,fifo", "--processes", "2"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True) as process:
        children = eventually(lambda: _children_of(process.pid, 3))
        assert children, "its workers have not started"
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
    assert process.returncode == 143
    assert eventually(lambda: not any(map(_runs, children)))


def _runs(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _children_of(pid, count):
    """The processes that a process has started, if there are so many."""
    children = psutil.Process(pid).children(recursive=True)
    return children if len(children) >= count else []


def test_the_usual_schedulers_where_none_is_named(command, tmp_path):
    assert command("compare", *SMALL, "--out", tmp_path / "c", "--no-report").code == 0
    assert sorted(path.name for path in (tmp_path / "c").iterdir() if path.is_dir()) == [
        "fifo",
        "las",
        "srtf",
    ]


@pytest.mark.parametrize("setting", ['scheduler = "las"', 'compat = "blox"', 'placement = ["count"]'])
def test_what_a_file_names_is_left_alone(tmp_path, setting):
    file = tmp_path / "c.toml"
    file.write_text(setting)
    assert len(grid_from(file, {}, ("fifo", "las")).experiments()) == 1
