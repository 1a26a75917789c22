"""The command line as a whole: help, version, exit codes, and what goes wrong in words."""

import os
import re
import signal
import subprocess
import sys

import psutil
import pytest

from blox.cli.commands import COMMANDS, OTHER_WORDS
from blox.version import VERSION
from support.waiting import PATIENCE_S, eventually

BLOX = [sys.executable, "-m", "blox.cli.main"]


def test_version(command):
    answer = command("--version")
    assert (answer.code, answer.out) == (0, f"blox {VERSION}\n")


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_help_lists_every_command(command, words):
    answer = command(*words)
    assert answer.code == 0
    for name in COMMANDS:
        assert name in answer.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(command, name):
    answer = command(name, "--help")
    assert answer.code == 0
    assert "Usage: blox" in answer.out


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from blox.cli.main import answer; answer(['--help']);"
        "print([m for m in ('duckdb', 'plotly', 'blox.cli.run', 'blox.report') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rum"], "No such command 'rum'. Did you mean 'run'?"),
        (["run", "--shceduler", "las"], "--scheduler"),
        (["run", "--jobs", "many"], "--jobs"),
        (["explain"], "DIR"),
        (["workload", "describ"], "describe"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_one(command, words, expected):
    answer = command(*words)
    assert answer.code == 2
    assert expected in answer.err
    assert "--help" in answer.err
    assert answer.out == ""


@pytest.mark.parametrize("word", OTHER_WORDS)
def test_a_word_of_another_tool_is_answered_with_our_command(command, word):
    """`blox serve --ui`, say, which is `blox up --ui`."""
    assert word not in COMMANDS
    answer = command(word, "--ui")
    assert (answer.code, answer.out) == (2, "")
    assert f"no command is called {word}" in answer.err
    named = re.findall(r"`blox (\w+)", answer.err)
    assert named and set(named) <= set(COMMANDS)


def test_an_interruption_is_one_line_and_130(command, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("blox.experiment.prepared.Prepared.run", interrupted)
    answer = command("run")
    assert (answer.code, answer.out, answer.err) == (130, "", "interrupted\n")


# Presses Ctrl-C at the moment when a module begins to be imported.
EARLY = """
import os, signal, sys
class Press:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Press())
from blox.cli.main import main
main(["run", "--jobs", "5"])
"""


@pytest.mark.parametrize(
    "module", ["blox.cli.terminal", "typer", "blox.cli.run", "numpy", "blox.experiment.settings", "rich"]
)
def test_ctrl_c_during_an_import_is_one_line_too(module):
    done = subprocess.run(
        [sys.executable, "-c", EARLY, module], capture_output=True, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert done.returncode in (130, -signal.SIGINT)  # a shell calls both 130
    assert (done.stdout, done.stderr) == ("", "interrupted\n")


SET_UP = """import importlib.abc, importlib.util, os, signal, sys
from blox.cli.main import _Stop
signal.signal(signal.SIGINT, _Stop())
class Compiled(importlib.abc.Loader):
    def exec_module(self, module):  # as compiled code does, it calls functions and drops what they raise
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            print("lost")
spec = importlib.util.spec_from_loader("compiled", Compiled())
try:
    importlib._bootstrap._load(spec)
    while True:
        pass
except KeyboardInterrupt:
    print("stopped")
"""


def test_ctrl_c_while_compiled_code_sets_its_module_up_is_not_lost():
    done = subprocess.run([sys.executable, "-c", SET_UP], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.stdout, done.stderr) == ("stopped\n", "")


def computed_s(process):
    """The time that a process has computed for."""
    times = psutil.Process(process.pid).cpu_times()
    return times.user + times.system


def test_an_interrupted_run_leaves_nothing_behind(tmp_path):
    started = [*BLOX, "run", "--workload", "gavel:load=100", "--window", "9000-90000", "--scheduler", "las"]
    with subprocess.Popen(
        [*started, "--out", "x"], cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        assert eventually(lambda: list(tmp_path.iterdir()))  # it holds the place for its results
        before_s = computed_s(process)
        assert eventually(lambda: computed_s(process) > before_s + 0.2)  # it runs
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert (out, err) == ("", "interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = subprocess.run([*BLOX, "policies"], stdout=pipe, stderr=subprocess.PIPE, text=True)
    assert done.stderr == ""


def test_a_full_disk_behind_the_output_is_told():
    if not os.path.exists("/dev/full"):
        pytest.skip("absent: /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([*BLOX, "compat"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: what is printed cannot be written: No space left on device\n  fix:")
    assert "Exception" not in done.stderr


def test_no_permission_is_told_without_a_trace(command, monkeypatch, tmp_path):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied", "/nowhere")

    monkeypatch.setattr("blox.results.result.Result.save", refused)
    answer = command("run", "--jobs", 5, "--out", tmp_path / "x")
    assert answer.code == 2
    assert answer.err.startswith("error: /nowhere: Permission denied")


def test_a_fault_of_our_own_keeps_its_trace(command, monkeypatch):
    monkeypatch.setattr("blox.experiment.prepared.Prepared.run", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        command("run")
