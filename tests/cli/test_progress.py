"""Progress: bars that keep their bar and the time left, and lines in a log file."""

import io
import re
import sys

import pytest
from rich.console import Console

from blox.cli import progress

LONG = "threshold:factor=1.2 promote:policy=las:by=time;strict=true,after_s=86400 consolidated seed=17"


@pytest.mark.parametrize("width", [80, 100, 160])
def test_long_names_leave_room_for_the_bar_and_the_time_left(width):
    text = io.StringIO()
    bars = progress.bars(Console(file=text, width=width, force_terminal=True, legacy_windows=False))
    bars.add_task(progress.shortened(LONG, width), total=100_000, completed=40_000, unit="jobs")
    bars.add_task("all runs", total=25, completed=3, unit="runs")
    bars.console.print(bars.get_renderable())
    plain = [line for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.getvalue()).splitlines() if line]
    assert len(plain) == 2
    for line, count in zip(plain, ("40000/100000 jobs", "3/25")):
        assert len(line) <= width
        assert count in line and line.count("━") >= 10
        assert "0:00:00" in line and "-:--:--" in line, "time taken, and time left (not known yet)"
    assert plain[0].startswith("threshold:f") and "seed=17" in plain[0]
    assert plain[1].startswith("all runs")


def test_a_log_file_has_a_line_now_and_then(monkeypatch, capsys):
    clock = iter([0.0, 10.0, 31.0, 40.0, 62.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress.ManyRuns(["a", "b", "c", "d", "e", "f"], finished=2) as watcher:
        watcher.going_on(0, 5, 10)  # after 10 s: too early
        watcher.over(0)  # after 31 s
        watcher.going_on(1, 5, 10)  # 9 s later
        watcher.over(1)  # after 62 s
    assert capsys.readouterr().err.splitlines() == [
        "all runs: 3 of 8 runs after 0:00:31, 0:02:35 left",
        "all runs: 4 of 8 runs after 0:01:02, 0:02:04 left",
    ]


def test_a_single_run_writes_lines_too(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 45.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.one_run("las") as report:
        report(0, 1000)
        report(250, 1000)
    assert capsys.readouterr().err == "las: 250 of 1,000 jobs after 0:00:45, 0:02:15 left\n"
