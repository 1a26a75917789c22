"""`blox report` over real results, as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import blox
from blox.cli.report import report
from blox.errors import BloxError


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Results directories of two small runs."""
    folder = tmp_path_factory.mktemp("runs")
    paths = []
    for scheduler in ("fifo", "las"):
        result = blox.Experiment(workload="philly:load=20", scheduler=scheduler, jobs=40).run()
        paths.append(str(result.save(folder / scheduler)))
    return paths


@pytest.fixture
def command() -> typer.Typer:
    app = typer.Typer()
    app.command()(report)
    return app


def test_several_directories_make_one_page(command: typer.Typer, saved: list[str], tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    answer = CliRunner().invoke(command, [*saved, "--out", str(out), "--title", "Mine"])
    assert answer.exit_code == 0, answer.output
    text = out.read_text()
    assert "<title>Mine</title>" in text
    assert "scheduler = &quot;las&quot;" in text and "workload_sha256" in text
    assert "fifo" in answer.output and f"report: {out}" in answer.output


def test_pictures_on_request(command: typer.Typer, saved: list[str], tmp_path: Path) -> None:
    out, pictures = tmp_path / "r.html", tmp_path / "pictures"
    options = ["--out", str(out), "--pictures", str(pictures), "--format", "svg"]
    answer = CliRunner().invoke(command, [saved[0], *options])
    assert answer.exit_code == 0, answer.output
    assert {path.suffix for path in pictures.iterdir()} == {".svg"}
    assert out.exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [(["--format", "jpg"], "jpg"), (["no/such/dir"], "no such directory")],
)
def test_mistakes_write_nothing(
    command: typer.Typer, saved: list[str], tmp_path: Path, wrong: list[str], said: str
) -> None:
    options = ["--out", str(tmp_path / "r.html"), "--pictures", str(tmp_path / "p")]
    answer = CliRunner().invoke(command, [saved[0], *options, *wrong])
    assert isinstance(answer.exception, BloxError) and said in str(answer.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_baseline_without_pictures_is_refused(
    command: typer.Typer, saved: list[str], tmp_path: Path
) -> None:
    answer = CliRunner().invoke(command, [*saved, "--out", str(tmp_path / "r.html"), "--baseline", "fifo"])
    assert isinstance(answer.exception, BloxError) and "add --pictures DIR" in str(answer.exception)


@pytest.mark.parametrize("name", ["r.pdf", "page"])
def test_a_name_that_is_no_page_is_refused(
    command: typer.Typer, saved: list[str], tmp_path: Path, name: str
) -> None:
    answer = CliRunner().invoke(command, [saved[0], "--out", str(tmp_path / name)])
    assert isinstance(answer.exception, BloxError) and "let its name end in .html" in str(answer.exception)
    assert list(tmp_path.iterdir()) == []
