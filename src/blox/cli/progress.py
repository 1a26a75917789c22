"""Progress on stderr, on a terminal only: nothing of it can end up in the output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Report = Callable[[int, int], None]  # (jobs done, jobs to do)


@contextmanager
def one_run(name: str) -> Iterator[Report | None]:
    """A bar over the jobs of one run; yields None where nobody would see it."""
    if not sys.stderr.isatty():
        yield None
        return
    with _bars() as bars:
        task = bars.add_task(name, total=None, unit="jobs")

        def report(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        yield report


class ManyRuns:
    """A bar over all runs, and below it one for each run that is going on."""

    def __init__(self, names: list[str], finished: int = 0) -> None:
        self._names, self._finished = names, finished
        self._bars: Progress | None = None
        self._rows: dict[int, TaskID] = {}

    def __enter__(self) -> ManyRuns:
        if sys.stderr.isatty():
            self._bars = _bars()
            self._bars.start()
            total = len(self._names) + self._finished
            self._all = self._bars.add_task("all runs", total=total, completed=self._finished, unit="runs")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def going_on(self, run: int, done: int, total: int) -> None:
        """Run number `run` has finished `done` of `total` jobs."""
        if self._bars is None:
            return
        if run not in self._rows:
            self._rows[run] = self._bars.add_task(f"  {self._names[run]}", total=None, unit="jobs")
        self._bars.update(self._rows[run], completed=done, total=total)

    def over(self, run: int) -> None:
        """Run number `run` has ended, one way or the other."""
        if self._bars is None:
            return
        if run in self._rows:
            self._bars.remove_task(self._rows.pop(run))
        self._bars.advance(self._all)


def _bars() -> Progress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from blox.cli.safe_console import SafeConsole

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=SafeConsole(stderr=True),
        transient=True,
        expand=True,
    )
