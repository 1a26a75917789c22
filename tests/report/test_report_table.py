"""The comparison in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

import pytest
from rich.console import Console

from blox.report.labels import folded
from blox.report.run import Run
from blox.report.table import comparison_table, difference_table
from blox.report.wide_table import Column, WideTable, right
from blox.results.replications import Replications
from support.toy_runs import ToyResult, toy_run


def printed(runs: Sequence[Run], width: int, colour: bool = False) -> str:
    text = StringIO()
    Console(file=text, width=width, force_terminal=colour, legacy_windows=False).print(comparison_table(runs))
    return text.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_every_figure_fits(three: list[ToyResult], width: int) -> None:
    text = printed(three, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for word in ("avg", "median", "p95", "p99", "span", "util.", "rupt.", "jobs/s", "123k"):
        assert word in text
    for run in three:
        assert any(line.startswith(run.label) for line in text.splitlines())


def test_the_best_value_is_bold_where_it_is_the_best_for_sure(
    three: list[ToyResult], three_seeded: list[Replications]
) -> None:
    assert "\x1b[1;32m" in printed(three_seeded, 120, colour=True)
    assert "\x1b[1;32m" not in printed(three_seeded[:1], 120, colour=True)
    assert "\x1b[1;32m" not in printed(three, 120, colour=True), "one run of each shows nothing for sure"


def test_intervals_stand_below_the_figures(three_seeded: list[Replications]) -> None:
    lines = printed(three_seeded, 120).splitlines()
    below = lines[next(at for at, line in enumerate(lines) if line.startswith("fifo")) + 1]
    assert below.split()[0].startswith("±") and len(below.split()) == 9


def test_differences_from_the_lowest(three_seeded: list[Replications]) -> None:
    text = StringIO()
    table = difference_table(three_seeded)
    Console(file=text, width=80).print(table)
    rows = [line for line in text.getvalue().splitlines() if line.startswith(("fifo", "srtf", "las"))]
    assert "lowest" in rows[0] and " to " in rows[1] and "%" in rows[1]
    assert any("not distinguishable" in row for row in rows) and not all("not d" in row for row in rows[1:])
    assert difference_table([toy_run("fifo"), toy_run("las")]) is None


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


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        ("fifo:strict=false", 20, ["fifo:strict=false"]),
        ("fifo:strict=false", 14, ["fifo:", "strict=false"]),
        ("fifo:strict=false", 9, ["fifo:", "strict", "=false"]),
        ("quota:user_jobs=2,user_gpus=4", 14, ["quota:", "user_jobs=2,", "user_gpus=4"]),
        ("las [seed=1, round_s=60.0]", 14, ["las [seed=1,", "round_s=60.0]"]),
        ("consolidated", 9, ["consolida", "ted"]),
        ("", 9, []),
    ],
)
def test_labels_break_where_a_reader_would(name: str, width: int, lines: list[str]) -> None:
    assert folded(name, width) == lines


def test_neither_heads_nor_words_break_at_80_columns(three: list[ToyResult]) -> None:
    names = ("fifo:strict=false", "srtf", "las")
    runs = [
        ToyResult(name, r.experiment, r.summary, r.jobs, r.rounds, r.stints) for name, r in zip(names, three)
    ]
    first = [
        line.split()[0] for line in printed(runs, 80).splitlines() if line[:1].isalpha() or line[:1] == "="
    ]
    assert first[0] == "scheduler"
    assert set(first[1:]) <= {*names, "fifo:", "fifo:strict", "strict=false", "strict", "=false"}


@pytest.mark.parametrize("width", range(74, 90))
def test_no_figure_is_cut_off_where_labels_are_folded(width):
    heads = ("waited\nreally", "simulated", "difference\n(95 % interval)", "p95", "p95\nsimulated", "right")
    columns = [Column("", right(head), [right("100 %")] * 3) for head in heads]
    table = WideTable(["jobs", "number"], [("all jobs", "3"), ("16 GPUs", "1"), ("language", "2")], columns)
    file = StringIO()
    Console(width=width, file=file).print(table)
    shown = file.getvalue()
    assert shown.count("100 %") == 18 and "language" in shown
