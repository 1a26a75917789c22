"""`blox reproduce`: figures of the paper, asked again; the claim, our numbers, the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from blox.reproduce import Figure, Finding, Setting


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE", help="fig4, fig10, ...; all; nothing lists them.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="A folder per figure goes here; give it again to resume.", metavar="DIR")
    ] = Path("results/reproduce"),
    scale: Annotated[
        str, typer.Option(help="quick (well under a minute a figure) or full (the paper's window).")
    ] = "quick",
    seed: Annotated[int, typer.Option(help="The first of the seeds.", metavar="N")] = 1,
    trace: Annotated[
        str, typer.Option(help="For figures that replay a trace: tiresias:60_job.csv.", metavar="SPEC")
    ] = "",
    processes: options.Processes = None,
) -> None:
    """Reproduce figures of the paper: what it claims, our numbers, and whether the claim holds.

    The verdict is computed from the numbers by a rule that is told with it. Numbers, picture and page go to
    the folder of the figure; runs that have finished are not run again.
    """
    from blox.cli.safe_console import SafeConsole
    from blox.reproduce import Setting, figure_called
    from blox.reproduce import figures as known

    console = SafeConsole(highlight=False)
    if not figures:
        _list(console, known())
        return
    wanted = list(known()) if "all" in figures else list(dict.fromkeys(figures))
    setting = Setting(scale, seed, trace)  # type: ignore[arg-type]
    for name in wanted:
        figure_called(name)
    verdicts = {name: _one(console, name, out / name, setting, processes) for name in wanted}
    if len(verdicts) > 1:
        console.print()
        for name, word in verdicts.items():
            console.print(f"{name:<6} {word}", markup=False)


def _list(console: Console, known: dict[str, Figure]) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name, figure in known.items():
        table.add_row(name, figure.title)
    console.print(table)
    console.print("\n`blox reproduce fig10` runs one, `blox reproduce all` every one.", markup=False)


def _one(console: Console, name: str, out: Path, setting: Setting, processes: int | None) -> str:
    """Runs one figure with progress, and shows what came out; answers with the word of the verdict."""
    from blox.cli.grids import folder_of_runs, run_watched, tell_failed
    from blox.cli.interrupt import Interrupted
    from blox.reproduce import figure_called
    from blox.reproduce.runner import FILES, RunsFailed
    from blox.reproduce.runner import reproduce as ask

    figure = figure_called(name)
    with folder_of_runs(out, "runs", *FILES):
        _labelled(console, name, "", figure.title, "bold")
        for word, text in (("claim", figure.claim), ("setup", figure.setup(setting))):
            _labelled(console, word, text)
        try:
            finding = ask(name, out, setting, lambda *runs: run_watched(runs[0], runs[1], processes, runs[2]))
        except RunsFailed as failed:
            tell_failed(failed.outcomes)
            raise
        except KeyboardInterrupt:
            words = "interrupted: runs that have finished are kept; the same command goes on"
            raise Interrupted(words) from None
    _show(console, figure, finding, out)
    return finding.verdict.word


def _show(console: Console, figure: Figure, finding: Finding, out: Path) -> None:
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    for position, head in enumerate(finding.heads):
        table.add_column(head, justify="right" if position else "left", vertical="bottom")
    for row in finding.rows:
        table.add_row(*row)
    console.print()
    console.print(table)
    console.print()
    for note in finding.notes:
        _labelled(console, "note", note)
    _labelled(console, "rule", figure.rule)
    colour = {"holds": "green", "holds in part": "yellow", "does not hold": "red"}[finding.verdict.word]
    _labelled(console, "verdict", f"{finding.verdict.reason}.", f"{finding.verdict.word}: ", f"bold {colour}")
    picture = "figure.png, figure.svg, " if (out / "figure.png").exists() else ""
    if not picture:
        _labelled(console, "note", "figure.png and figure.svg need matplotlib: pip install 'blox[plot]'")
    console.print(
        f"results  {out}: {picture}report.html, numbers.csv, finding.json", soft_wrap=True, markup=False
    )


def _labelled(console: Console, word: str, text: str, first: str = "", style: str = "") -> None:
    """A paragraph beside its word, what comes first in a style of its own."""
    from rich.table import Table
    from rich.text import Text

    beside = Table.grid(padding=(0, 1))
    beside.add_column(min_width=8)
    beside.add_column()
    beside.add_row(word, Text(first, style=style).append(text, style="not bold default"))
    console.print(beside)
