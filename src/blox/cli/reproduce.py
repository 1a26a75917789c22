"""`blox reproduce`: the paper's figures and tables, asked again; pages on the terminal, and the book."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from blox.experiment.parallel import Outcome
    from blox.reproduce import Answer, Page, Setting, Unavailable
    from blox.reproduce.runner import RunsFailed


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PAGE",
            help="fig4, table4, ...; all: everything of the paper; nothing lists them.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(help="The book and a folder per page go here; give it again to resume.", metavar="DIR"),
    ] = Path("results/reproduce"),
    scale: Annotated[
        str, typer.Option(help="quick (seconds a page) or full (the paper's loads and window).")
    ] = "quick",
    quick: Annotated[
        bool, typer.Option("--quick", help="Short for --scale quick.", show_default=False)
    ] = False,
    seed: Annotated[int, typer.Option(help="The first of the seeds.", metavar="N")] = 1,
    trace: Annotated[
        str, typer.Option(help="For pages that replay a trace: tiresias:60_job.csv.", metavar="SPEC")
    ] = "",
    processes: options.Processes = None,
) -> None:
    """Reproduce figures and tables of the paper: what it claims, our numbers, and whether the claim holds.

    The verdict is computed from the numbers by a rule that is told with it. Every page goes to a folder of
    its own, all pages that were asked to book.html; runs that have finished are not run again.
    """
    from blox.cli.safe_console import SafeConsole
    from blox.errors import BloxError
    from blox.reproduce import Setting, page_called, pages
    from blox.reproduce.runner import check

    console = SafeConsole(highlight=False)
    if not names:
        _list(console, pages())
        return
    if quick and scale == "full":
        raise BloxError("--quick and --scale full", where="scale", fix="give one of them")
    setting = Setting(scale, seed, trace)  # type: ignore[arg-type]
    wanted = list(dict.fromkeys(_spelt_out(names)))
    for name in wanted:
        page_called(name)
    check(wanted, setting)
    _ask_all(console, wanted, out, setting, processes)


def _spelt_out(names: list[str]) -> list[str]:
    """`all` is every page about the paper; others are asked by name."""
    from blox.reproduce.catalogue import PAPER, pages

    of_paper = {item.name for item in PAPER}
    every = [name for name in pages() if name in of_paper]
    return [each for name in names for each in (every if name == "all" else [name])]


def _list(console: Console, known: dict[str, Page]) -> None:
    from rich.table import Table

    from blox.reproduce.catalogue import PAPER

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name, page in known.items():
        table.add_row(name, page.title)
    for item in PAPER:
        if item.name not in known:
            table.add_row(item.name, f"({item.about}: {item.needs})", style="dim")
    console.print(table)
    console.print(
        "\n`blox reproduce fig10` asks one, `blox reproduce all` every one about the paper.", markup=False
    )


def _ask_all(console: Console, wanted: list[str], out: Path, setting: Setting, processes: int | None) -> None:
    """Asks pages and shows each as it comes; the book is written even when that is interrupted."""
    from blox.cli.grids import check_place, folder_of_runs, names_of, run_each_watched, tell_failed
    from blox.cli.interrupt import Interrupted
    from blox.cli.terminal import say
    from blox.reproduce import Unavailable
    from blox.reproduce.book import BOOK, write_book
    from blox.reproduce.catalogue import PAPER, pages
    from blox.reproduce.runner import FILES, RUNS, RunsFailed
    from blox.reproduce.runner import reproduce as ask

    known = dict.fromkeys([*(item.name for item in PAPER), *pages()])
    words: dict[str, str] = {}
    unavailable: dict[str, str] = {}
    failed: list[Outcome] = []
    with folder_of_runs(out, RUNS, BOOK, *known):
        for name in wanted:
            check_place(out / name, *FILES)
        answers = ask(
            wanted, out, setting,
            run=lambda tasks, names, finished: run_each_watched(tasks, names, processes, finished),
            measuring=lambda name: say(f"{name}: measuring, before any simulation runs", to_stderr=True),
        )  # fmt: skip
        try:
            with closing(answers):
                for at, (name, answer) in enumerate(answers, 1):
                    place = f"page {at} of {len(wanted)}" if len(wanted) > 1 else ""
                    words[name] = _shown(console, name, place, out, setting, answer)
                    if isinstance(answer, RunsFailed):
                        failed += answer.outcomes
                    elif isinstance(answer, Unavailable):
                        unavailable[name] = str(answer)
        except KeyboardInterrupt:
            text = "interrupted: runs that have finished are kept; the same command goes on"
            raise Interrupted(text) from None
        finally:
            if words:
                write_book(out, unavailable)
    if len(words) > 1:
        console.print()
        for name, word in words.items():
            console.print(f"{name:<7} {word}", markup=False)
    console.print(f"book     {out / BOOK}", soft_wrap=True, markup=False)
    ended = list(dict.fromkeys(failed))
    tell_failed(list(zip(names_of([outcome.task.experiment for outcome in ended]), ended)))


def _shown(
    console: Console,
    name: str,
    place: str,
    out: Path,
    setting: Setting,
    answer: Answer | Unavailable | RunsFailed,
) -> str:
    """Shows a page and what came out; returns the word of the verdict, or why there is none."""
    from blox.cli.page_shown import labelled, show
    from blox.reproduce import Answer, page_called

    page = page_called(name)
    labelled(console, name, f"  ({place})" if place else "", page.title, "bold")
    for word, text in (("claim", page.claim), ("setup", page.setup(setting))):
        labelled(console, word, text)
    if isinstance(answer, Answer):
        show(console, answer, out / name)
        return answer.finding.verdict.word
    labelled(console, "verdict", str(answer), "not asked: ", "bold")
    return f"not asked: {answer}"
