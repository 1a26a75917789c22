"""`blox top` as it is typed, where there is no terminal."""

import pytest
from typer import Typer
from typer.testing import CliRunner

from blox import Experiment
from blox.cli.safe_console import SafeConsole
from blox.cli.top import _show, top
from blox.errors import BloxError
from blox.ui.top.frame import FREE, Frame, Node


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("top") / "run"
    workload = "philly:load=30,jobs=40,max_gpus=8"
    return str(Experiment(workload=workload, cluster="3x4", scheduler="las").run().save(folder))


def typed(*words):
    app = Typer()
    app.command()(top)
    return CliRunner().invoke(app, list(words))


def test_a_finished_run_at_a_time_and_where_most_jobs_wait(saved):
    early, usual = typed(saved, "--at", "1h"), typed(saved)
    assert early.exit_code == usual.exit_code == 0
    assert "1 h of" in early.output.replace("60 min", "1 h") and " of 12 in use" in early.output
    assert "waiting (by submission" in usual.output and "node-2" in usual.output


def test_mistakes_are_told(saved, tmp_path):
    for words, said in (
        ((saved, "--at", "noon"), "'noon' is not a duration"),
        ((saved, "--at", "999d"), "the run ended at"),
        (("--at", "1h"), "--at is a time of a finished run"),
        ((str(tmp_path / "none"),), "no such directory"),
    ):
        answer = typed(*words)
        assert isinstance(answer.exception, BloxError) and said in str(answer.exception)


def test_an_interruption_is_the_way_to_end_it(monkeypatch, capsys):
    """The last picture stays on the terminal."""
    frames = [Frame(title, [], [Node("node-0", [FREE])]) for title in ("first", "second", "third")]

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr("blox.cli.top.time.sleep", interrupted)
    _show(SafeConsole(), iter(frames), 1.0)
    assert "first" in capsys.readouterr().out
