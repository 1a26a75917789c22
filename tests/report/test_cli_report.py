"""`blox report`, as a user types it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
import typer
from toy_runs import ToyResult, toy_run
from typer.testing import CliRunner

from blox.cli.report import report


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """The command over directories whose names are toy schedulers."""

    class Result:
        @staticmethod
        def load(directory: Path) -> ToyResult:
            return toy_run(directory.name)

    results = ModuleType("blox.results")
    results.Result = Result  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "blox.results", results)
    app = typer.Typer()
    app.command()(report)
    return app


def test_several_directories_make_one_page(command: typer.Typer, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    answer = CliRunner().invoke(command, ["runs/fifo", "runs/las", "--out", str(out), "--title", "Mine"])
    assert answer.exit_code == 0, answer.output
    assert "<title>Mine</title>" in out.read_text()
    assert "fifo" in answer.output and str(out) in answer.output


def test_pictures_on_request(command: typer.Typer, tmp_path: Path) -> None:
    out, pictures = tmp_path / "r.html", tmp_path / "pictures"
    answer = CliRunner().invoke(
        command, ["fifo", "--out", str(out), "--pictures", str(pictures), "--format", "svg"]
    )
    assert answer.exit_code == 0, answer.output
    assert {path.suffix for path in pictures.iterdir()} == {".svg"}
    assert out.exists()


def test_a_wrong_format_writes_nothing(command: typer.Typer, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    answer = CliRunner().invoke(
        command, ["fifo", "--out", str(out), "--pictures", str(tmp_path / "p"), "--format", "jpg"]
    )
    assert answer.exit_code != 0 and "jpg" in str(answer.exception)
    assert list(tmp_path.iterdir()) == []
