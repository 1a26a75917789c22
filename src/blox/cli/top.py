"""`blox top`: the essentials of a cluster in the terminal, running or finished."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli.cluster_tables import Directory, client

if TYPE_CHECKING:
    from blox.cli.safe_console import SafeConsole
    from blox.ui.top.frame import Frame

_FILM_S = 60.0  # for which a finished run is played
_FRAME_S = 0.25
_PAPER_LINES = 40  # where there is no terminal whose height counts


def top(
    results: Annotated[
        Path | None,
        typer.Argument(metavar="RESULTS", help="A results directory to play.", show_default="the cluster"),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Show a finished run at this time only: 36h, 2d, ..."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Show one moment and end.")] = False,
    every: Annotated[
        float, typer.Option(min=0.5, max=3600, help="Seconds between two looks at the running cluster.")
    ] = 2.0,
    cluster: Directory = None,
) -> None:
    """Show a running cluster in the terminal: its GPUs by job, which jobs run, which wait and why.

    With RESULTS, play a finished run in a minute; --once, or where there is no terminal, shows the time at
    which most jobs wait.

    blox top results/demo/las --at 2d
    """
    from blox.cli.safe_console import SafeConsole
    from blox.errors import BloxError

    console = SafeConsole()
    still = once or at is not None or not console.is_terminal
    if results is None and at is not None:
        raise BloxError("--at is a time of a finished run", where="blox top", fix="blox top RESULTS --at 2d")
    if results is not None:
        _show(console, _finished(results, at, still), _FRAME_S)
    else:
        look = _running(cluster)
        _show(console, iter([look()]) if still else iter(look, None), every)


def _finished(results: Path, at: str | None, still: bool) -> Iterator[Frame]:
    from blox.durations import parse_duration
    from blox.errors import BloxError
    from blox.report.labels import labels
    from blox.report.units import duration
    from blox.ui.film.runs import filmed
    from blox.ui.top.finished import FinishedTop

    runs = filmed([results])
    if len(runs) > 1:
        inside = ", ".join(str(each.folder) for each in runs[:3])
        raise BloxError(f"{len(runs)} runs are there", where=str(results), fix=f"give one of them: {inside}")
    found = FinishedTop(runs[0], labels([runs[0].result])[0])
    if still:
        time_s = found.busiest_s if at is None else parse_duration(at, where="--at")
        if time_s > found.end_s:
            end = duration(found.end_s)
            raise BloxError(f"the run ended at {end}", where="--at", fix=f"give a time up to {end}")
        return iter([found.at(time_s)])
    return _played(found.at, found.begin_s, found.end_s)


def _played(at: Callable[[float], Frame], begin_s: float, end_s: float) -> Iterator[Frame]:
    """Frames by the clock, so that a slow terminal leaves some out and the film is as long."""
    began, passed = time.monotonic(), 0.0
    while passed < _FILM_S:
        yield at(begin_s + (end_s - begin_s) * passed / _FILM_S)
        passed = time.monotonic() - began
    yield at(end_s)


def _running(cluster: str | None) -> Callable[[], Frame]:
    asked = client(cluster, patience_s=0.0)  # what does not answer is told, not waited for
    from blox.cluster.shell.place import Place
    from blox.ui.top.running import RunningTop

    return RunningTop(asked, str(Place.of(cluster).root)).now


def _show(console: SafeConsole, frames: Iterator[Frame], every_s: float) -> None:
    """Prints the one frame, or shows several in the same place until they end or are interrupted."""
    from rich.live import Live

    from blox.ui.top.frame import drawn

    frame, height = next(frames), console.height if console.is_terminal else _PAPER_LINES
    second = next(frames, None)
    if second is None:
        console.print(drawn(frame, console.width, height))
        return
    with (
        contextlib.suppress(KeyboardInterrupt),  # the way to end it
        Live(console=console, screen=True, auto_refresh=False) as screen,
    ):
        while second is not None:
            screen.update(drawn(second, console.width, console.height), refresh=True)
            time.sleep(every_s)
            frame, second = second, next(frames, None)
    console.print(drawn(frame, console.width, console.height))
