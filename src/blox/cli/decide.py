"""`blox decide`: from an accounting log to a decision about the scheduler, on one page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli import options

if TYPE_CHECKING:
    from blox.decision.study import Study

_LOG = "The accounting log: slurm:sacct.txt (slurm: may be left out), swf:, pbs:, kueue:, or any trace."
History = Annotated[str, typer.Option("--history", help=_LOG, metavar="LOG", show_default=False)]
Cluster = Annotated[str, typer.Option(help=options.CLUSTER, metavar="SPEC", show_default=False)]
Present = Annotated[
    str | None, typer.Option(help="The scheduler that runs today: backfill:kind=easy, ...", metavar="SPEC")
]
Resamples = Annotated[
    int, typer.Option(help="How many times the log is drawn again, in blocks.", metavar="N")
]
Block = Annotated[
    str | None, typer.Option(help="What is drawn together: 7d; shorter for short logs.", metavar="DURATION")
]


def decide(
    history: History,
    cluster: Cluster,
    present: Present = None,
    scheduler: options.Schedulers = None,
    placement: options.Placement = None,
    overheads: options.Overheads = None,
    belief: options.Belief = None,
    round_s: options.Round = None,
    seed: options.Seed = None,
    resamples: Resamples = 10,
    block: Block = None,
    out: options.Out = None,
    processes: options.Processes = None,
) -> None:
    """Compare the scheduler that runs today with a shortlist, on your own log, and say what would change.

    Every scheduler runs on the log, and on resamples of it: weeks drawn again, so that it can be told what is
    chance. What changes for whom, what it costs, what it depends on, where it cannot be told, and how many
    GPUs the best one would save at equal waiting goes to one page, decision.html in --out; changes.csv has
    every figure.
    """
    from blox.cli.grids import run_watched
    from blox.cli.interrupt import Interrupted
    from blox.decision.conduct import conduct
    from blox.decision.study import PRESENT, SHORTLIST, Study
    from blox.durations import parse_duration
    from blox.experiment.sweep import values_of

    given = {
        "placement": placement,
        "overheads": overheads,
        "belief": belief,
        "round_s": round_s,
        "seed": seed,
    }
    study = Study(
        _with_format(history),
        cluster,
        present or PRESENT,
        tuple(values_of("scheduler", scheduler)) if scheduler else SHORTLIST,
        resamples=resamples,
        block=None if block is None else parse_duration(block, where="--block"),
        **{name: value for name, value in given.items() if value is not None},  # type: ignore[arg-type]
    )
    _read(study, history)
    try:
        with _folder(out) as folder:
            found = conduct(study, lambda tasks, names: run_watched(tasks, names, processes), folder)
            if out is not None:
                from blox.decision.page import write_changes, write_page

                write_page(out / "decision.html", found)
                write_changes(out / "changes.csv", found)
    except KeyboardInterrupt:
        raise Interrupted("interrupted: nothing is decided") from None
    _show(found, out)


def _with_format(log: str) -> str:
    """A path by itself is what sacct has printed."""
    from blox.registry import names
    from blox.workloads.spec import is_trace

    path = log.partition("?")[0]
    is_path = Path(path).is_file() or not (":" in path or path in (*names("workload"), *names("reader")))
    return f"slurm:{log}" if is_path and not is_trace(log) else log


def _read(study: Study, history: str) -> None:
    """Reads the log. Of one that was given without its format, a fault says how it was taken."""
    from blox.errors import BloxError
    from blox.workloads.source_rows import MissingColumn

    try:
        len(study.table)
    except MissingColumn as error:
        if study.history == history:
            raise
        fix = f"it is read as what sacct prints; otherwise give pbs:{history}, swf: or kueue:"
        raise BloxError(error.what, where=error.where, fix=fix) from None


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Where the files of smaller clusters go: beside the page, or for the time of the runs."""
    import tempfile

    from blox.cli.grids import folder_of_runs

    if out is not None:
        own = ("decision.html", "changes.csv")
        with folder_of_runs(out, *own, *(path.name for path in out.glob("cluster-*.toml"))):
            yield out
        return
    with tempfile.TemporaryDirectory(prefix="blox-decide-") as folder:
        yield Path(folder)


def _show(found: object, out: Path | None) -> None:
    """Prints the decision and its tables."""
    from blox.cli.safe_console import SafeConsole
    from blox.decision.evidence import Evidence
    from blox.decision.page import terminal_tables
    from blox.decision.words import basis, claim, closeness, price

    assert isinstance(found, Evidence)
    console = SafeConsole()
    for sentence in (claim(found), price(found), closeness(found), basis(found)):
        console.print(sentence, highlight=False, markup=False)
    for table, shown in terminal_tables(found):
        console.print()
        console.print(table.title, style="bold", highlight=False, markup=False)
        console.print(shown)
    if out is not None:
        place = f"\ndecision: {out / 'decision.html'}"
        console.print(place, highlight=False, soft_wrap=True, markup=False)
