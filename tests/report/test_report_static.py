"""The pictures on paper."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.report import colours
from blox.report.figure_style import bar_marker
from blox.report.page_parts import swatch
from blox.report.paper import bar_style
from blox.report.paper_bars import paper_bars
from blox.report.static import gantt, jct_cdf, save_pictures
from blox.results.replications import Replications
from support.toy_runs import ToyResult, toy_run
from support.traces import WITH_MODEL, trace

NAMES = ("jct_cdf", "responsiveness_cdf", "rho_cdf", "utilisation", "queue", "waiting", "gantt", "averages")


def test_all_pictures_in_every_format(tmp_path: Path, three: list[ToyResult]) -> None:
    written = save_pictures(tmp_path / "pictures", three, formats=("png", "svg", "pdf"))
    assert {path.name for path in written} == {
        f"{name}.{kind}" for name in (*NAMES, "normalised") for kind in ("png", "svg", "pdf")
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


def test_bars_have_intervals_and_are_relative_to_a_baseline(three_seeded: list[Replications]) -> None:
    found = paper_bars(three_seeded, "las")
    (chart,) = found["normalised"]
    assert chart.y_title == "relative to las" and [bar.name for bar in chart.bars] == ["fifo", "srtf", "las"]
    fifo, _, las = chart.bars
    assert set(las.y) == {1.0} and las.low == ()
    ratio = three_seeded[0].summary["avg_jct_s"] / three_seeded[2].summary["avg_jct_s"]
    assert fifo.y[0] == pytest.approx(ratio) and fifo.low[0] < ratio < fifo.high[0]
    assert all(bar.low for bar in found["averages"][0].bars)


def test_bars_by_model(tmp_path: Path) -> None:
    jobs = [(i, 0, 1 + i % 2, 600 + 60 * i, ("bert", "gpt")[i % 2]) for i in range(8)]
    workload = trace(tmp_path / "jobs.csv", jobs, header=WITH_MODEL)
    runs = [
        Experiment(workload=workload, cluster="1x2", scheduler=name, round_s=60.0).run()
        for name in ("fifo", "srtf")
    ]
    found = paper_bars(runs)
    (plain,), (relative,) = found["by_model"], found["by_model_normalised"]
    assert plain.groups == relative.groups == ("bert", "gpt")
    jct = {each.label: each.by("model")["avg_jct_s"] for each in runs}
    assert relative.bars[1].y == pytest.approx(tuple(jct["srtf"] / jct["fifo"]))
    written = save_pictures(tmp_path / "pictures", runs)
    assert {path.name for path in written} >= {"by_model.pdf", "by_model.svg", "by_model_normalised.pdf"}


def test_an_unknown_baseline_is_answered_with_the_runs(tmp_path: Path, three: list[ToyResult]) -> None:
    with pytest.raises(BloxError, match=r"no run is called 'la'[\s\S]*did you mean 'las'"):
        save_pictures(tmp_path / "none", three, baseline="la")
    assert not (tmp_path / "none").exists()


def test_runs_that_share_a_colour_differ_in_bars_points_and_swatches() -> None:
    many = range(28)
    for styles in (
        [bar_style(each) for each in many],
        [bar_marker(each) for each in many],
        [swatch(each) for each in many],
        [(colours.of_run(each), colours.mark_of_run(each)) for each in many],
    ):
        assert len({str(style) for style in styles}) == len(many)


def test_the_gantt_picture_says_which_runs_and_which_seed_it_shows(
    one: ToyResult, three_seeded: list[Replications]
) -> None:
    (told,) = (text.get_text() for text in gantt([one] * 8).texts)
    assert "The first 6 of 8 runs." in told and "seed" not in told
    (told,) = (text.get_text().replace("\n", " ") for text in gantt(three_seeded).texts)
    assert "Of several seeds the first" in told and "runs." not in told
