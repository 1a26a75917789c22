"""The pictures on paper."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from blox.errors import BloxError
from blox.report import colours
from blox.report.static import jct_cdf, save_pictures
from support.toy_runs import ToyResult, toy_run

NAMES = ("jct_cdf", "responsiveness_cdf", "rho_cdf", "utilisation", "queue", "waiting", "gantt")


def test_all_pictures_in_every_format(tmp_path: Path, three: list[ToyResult]) -> None:
    written = save_pictures(tmp_path / "pictures", three, formats=("png", "svg", "pdf"))
    assert {path.name for path in written} == {
        f"{name}.{kind}" for name in NAMES for kind in ("png", "svg", "pdf")
    }
    for path in written:
        head = path.read_bytes()[:8]
        assert head.startswith({".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[path.suffix])


def test_the_same_runs_give_the_same_bytes(tmp_path: Path, one: ToyResult) -> None:
    first = save_pictures(tmp_path / "a", [one], formats=("svg",))
    second = save_pictures(tmp_path / "b", [one], formats=("svg",))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize("max_rounds", [0, 1, 12])
def test_runs_without_finished_jobs_are_drawn(tmp_path: Path, max_rounds: int) -> None:
    assert len(save_pictures(tmp_path, [toy_run(jobs=30, max_rounds=max_rounds)], formats=("svg",))) == len(
        NAMES
    )


def test_an_unknown_format_is_answered_with_the_valid_ones(tmp_path: Path, one: ToyResult) -> None:
    with pytest.raises(BloxError, match=r"'pgn'[\s\S]*did you mean 'png'"):
        save_pictures(tmp_path / "none", [one], formats=("pgn",))
    assert not (tmp_path / "none").exists()


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, one: ToyResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BloxError, match=r"pip install 'blox\[plot\]'"):
        save_pictures(tmp_path / "none", [one])
    assert not (tmp_path / "none").exists()


def test_of_two_equal_curves_both_are_seen(one: ToyResult) -> None:
    figure = jct_cdf([one, one, one])
    lines = figure.axes[0].get_lines()
    assert [line.get_linestyle() for line in lines] == ["-", "--", ":"]
    assert sorted((line.get_linewidth() for line in lines), reverse=True) == [
        line.get_linewidth() for line in lines
    ]
    many = range(28)
    assert len({(colours.of_run(each), colours.dash_of_run(each)) for each in many}) == len(many)
