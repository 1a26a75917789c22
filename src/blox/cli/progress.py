"""Progress on stderr: bars on a terminal, a line now and then in a log file; nothing of it is output."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from blox.cli.terminal import say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

Report = Callable[[int, int], None]  # (jobs done, jobs to do)
_BESIDE = 56  # columns that the bar, the counts and the times need
_LINE_EVERY_S = 30.0  # in a log file; shorter runs write none


@contextmanager
def one_run(name: str) -> Iterator[Report]:
    """A bar over the jobs of one run."""
    if not sys.stderr.isatty():
        yield _Lines(name, "jobs").report
        return
    with bars() as shown:
        task = shown.add_task(shortened(name, shown.console.width), total=None, unit="jobs")

        def report(done: int, total: int) -> None:
            shown.update(task, completed=done, total=total)

        yield report


class ManyRuns:
    """A bar over all runs, and below it one for each run that is going on."""

    def __init__(self, names: list[str], finished: int = 0) -> None:
        self._names, self._done, self._total = names, finished, len(names) + finished
        self._bars: Progress | None = None
        self._rows: dict[int, TaskID] = {}
        self._lines = _Lines("all runs", "runs", finished)

    def __enter__(self) -> ManyRuns:
        if sys.stderr.isatty():
            self._bars = bars()
            self._bars.start()
            self._all = self._bars.add_task("all runs", total=self._total, completed=self._done, unit="runs")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Takes the bars off the terminal, so that something else can be printed there."""
        if self._bars is None:
            yield
            return
        self._bars.stop()
        yield
        self._bars.start()

    def going_on(self, run: int, done: int, total: int) -> None:
        """Run number `run` has finished `done` of `total` jobs."""
        if self._bars is None:
            return self._lines.report(self._done, self._total)
        if run not in self._rows:
            name = shortened(f"  {self._names[run]}", self._bars.console.width)
            self._rows[run] = self._bars.add_task(name, total=None, unit="jobs")
        self._bars.update(self._rows[run], completed=done, total=total)

    def over(self, run: int) -> None:
        """Run number `run` has ended, one way or the other."""
        self._done += 1
        if self._bars is None:
            return self._lines.report(self._done, self._total)
        if run in self._rows:
            self._bars.remove_task(self._rows.pop(run))
        self._bars.advance(self._all)


class _Lines:
    """Progress in a file: a line every half minute, with the time that is left at this speed."""

    def __init__(self, name: str, unit: str, already: int = 0) -> None:
        self._name, self._unit, self._already = name, unit, already
        self._began = self._last = time.monotonic()

    def report(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last < _LINE_EVERY_S:
            return
        self._last, took = now, now - self._began
        gained = done - self._already
        left = f", {_clock(took * (total - done) / gained)} left" if gained > 0 and total else ""
        of = f" of {total:,}" if total else ""
        say(f"{self._name}: {done:,}{of} {self._unit} after {_clock(took)}{left}", to_stderr=True)


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def shortened(name: str, width: int) -> str:
    """A name for a bar on a terminal of so many columns: its middle gives way to the bar and the times."""
    room = max(width - _BESIDE, 12)
    if len(name) <= room:
        return name
    return f"{name[: room - room // 2 - 1]}…{name[len(name) - room // 2 :]}"


def bars(console: Console | None = None) -> Progress:
    """Bars with name, count and times; names are to be shortened."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    from blox.cli.safe_console import SafeConsole

    def fixed() -> Column:
        return Column(no_wrap=True)

    return Progress(
        TextColumn("{task.description}", markup=False, table_column=fixed()),
        BarColumn(bar_width=None, table_column=Column(ratio=1, min_width=10)),
        MofNCompleteColumn(table_column=fixed()),
        TextColumn("{task.fields[unit]}", table_column=fixed()),
        TimeElapsedColumn(table_column=fixed()),
        TimeRemainingColumn(table_column=fixed()),
        console=console or SafeConsole(stderr=True),
        transient=True,
        expand=True,
    )
