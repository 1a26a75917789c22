"""The comparison in the terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from toy_runs import ToyResult

from blox.report.table import comparison_table


def printed(runs: list[ToyResult], width: int, colour: bool = False) -> str:
    text = StringIO()
    Console(file=text, width=width, force_terminal=colour, legacy_windows=False).print(comparison_table(runs))
    return text.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_every_figure_fits(three: list[ToyResult], width: int) -> None:
    text = printed(three, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for word in ("avg", "median", "p95", "p99", "span", "util.", "empt.", "jobs/s", "123k"):
        assert word in text
    for run in three:
        assert any(line.startswith(run.label) for line in text.splitlines())


def test_the_best_value_is_bold(three: list[ToyResult]) -> None:
    assert "\x1b[1;32m" in printed(three, 120, colour=True)
    assert "\x1b[1;32m" not in printed(three[:1], 120, colour=True)


def test_long_labels_fold_and_figures_stay_whole(three: list[ToyResult]) -> None:
    long = [
        ToyResult(
            "threshold:factor=1.2+srtf:by=gpu-time+consolidated",
            r.experiment,
            r.summary,
            r.jobs,
            r.rounds,
            r.stints,
        )
        for r in three
    ]
    text = printed(long, 80)
    assert max(map(len, text.splitlines())) <= 80 and "…" not in text and "123k" in text
