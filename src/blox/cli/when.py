"""`blox when`: when would my job start?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from blox.experiment.when import Prospect

LOW, MIDDLE, HIGH = 10, 50, 90  # per cent of the draws
SHOWN = 5  # nodes that are draining or down, one by one


def when(
    directory: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A results directory, as `blox run --out` writes it.")
    ],
    at: Annotated[
        str, typer.Option(help="When the job is submitted, from the beginning of the run.", metavar="TIME")
    ],
    gpus: Annotated[int, typer.Option(min=1, help="GPUs that it asks for.", metavar="N")],
    duration: Annotated[str, typer.Option(help="How long it runs by itself.", metavar="TIME")],
    belief: Annotated[
        str,
        typer.Option(
            help="What is believed of the other jobs: learnt, none, told, oracle, noisy:sigma=0.5.",
            metavar="SPEC",
        ),
    ] = "learnt",
    draws: Annotated[int, typer.Option(min=1, max=10_000, help="How often it is drawn.", metavar="N")] = 20,
    columns: Annotated[
        str | None,
        typer.Option("--with", help="More of the job: model=Resnet-50,user=ann.", metavar="COLUMN=VALUE,..."),
    ] = None,
) -> None:
    """Say when a job would start, and finish, if it were submitted in the middle of a run.

    The run is simulated again up to that time, and from there on ahead with the job among the others: once
    for each draw of how long the jobs take that are there. No job comes after it.
    """
    from blox.cli.experiments import experiment_from
    from blox.durations import parse_duration
    from blox.errors import BloxError
    from blox.experiment.when import when as ask
    from blox.registry import parse_options
    from blox.report.choices import simulated_ahead
    from blox.results.replications import first_run

    result, note = first_run(directory)
    if note:
        typer.echo(f"{note}\n")
    at_s, duration_s = (
        parse_duration(text, where=name) for text, name in ((at, "--at"), (duration, "--duration"))
    )
    for name, seconds in (("--at", at_s), ("--duration", duration_s)):
        if seconds == float("inf") or (name == "--duration" and not seconds):
            raise BloxError("it must be a time", where=name, fix="write 36h, 90m, or a number of seconds")
    prepared = experiment_from(_settings(directory, note), {})
    told = parse_options(columns or "", where="--with")
    prospect = ask(
        prepared, at_s, gpus=gpus, duration_s=duration_s, belief=belief, samples=draws, columns=_typed(told)
    )
    _show(prospect, result.label, gpus, duration_s, belief)
    for note in simulated_ahead(result.experiment):
        typer.echo(note)


def _settings(directory: Path, note: str) -> Path:
    """The settings of the run: of several seeds, those of the first."""
    from blox.results.replications import seed_folder, seeds_in

    folder = seed_folder(directory, seeds_in(directory)[0]) if note else directory
    return Path(folder) / "experiment.toml"


def _typed(told: dict[str, str]) -> dict[str, Any]:
    """Columns of a job from their texts; unknown names and values are told when the job is built."""
    from blox.errors import BloxError
    from blox.workloads.table import COLUMNS

    found: dict[str, Any] = {}
    for name, text in told.items():
        if name in ("job_id", "submit_s", "gpus", "duration_s"):
            raise BloxError(
                f"{name} is given by an option of its own", where="--with", fix="--at, --gpus, --duration"
            )
        if name not in COLUMNS or COLUMNS[name].is_text:
            found[name] = text
            continue
        try:
            found[name] = float(text)
        except ValueError:
            raise BloxError(f"{name} is {text!r}", where="--with", fix="give a number") from None
    return found


def _show(prospect: Prospect, label: str, gpus: int, duration_s: float, belief: str) -> None:
    """The answer: the middle of the draws, and between which times most of them are."""
    from blox.report.units import counted, duration

    count = len(prospect.start_s)
    typer.echo(
        f"{label} at {duration(prospect.at_s)}: {counted(prospect.running, 'job runs', 'jobs run')}, "
        f"{counted(prospect.waiting, 'waits', 'wait')}, "
        f"{counted(prospect.free_gpus, 'GPU is free', 'GPUs are free')}, "
        f"{counted(prospect.finished, 'job has finished', 'jobs have finished')}."
    )
    size = f"{gpus} GPU{'s' if gpus > 1 else ''}"
    typer.echo(f"A job of {size} and {duration(duration_s)}, submitted then, would")
    for verb, times in (("start", prospect.starts_in), ("finish", prospect.finishes_in)):
        low, middle, high = times(LOW, MIDDLE, HIGH)
        spread = f"  ({_after(low)} to {_after(high)} in {HIGH - LOW} % of the draws)" if low != high else ""
        word = "after " if 0 < middle < float("inf") else ""
        typer.echo(f"  {verb:<6} {word}{_after(middle)}{spread}")
    if prospect.never:
        typer.echo(f"In {prospect.never} of {count} draws it would not start.")
    _show_away(prospect)
    drawn = f", {count} draws" if count > 1 else ""
    typer.echo(f"Durations of the other jobs: {belief}{drawn}. No job comes after it.")
    if belief == "learnt":
        typer.echo(
            f"Learnt from {prospect.finished:,} finished jobs. While the longest jobs have not finished, "
            "draws are too short, and a start may come later than they say."
        )


def _show_away(prospect: Prospect) -> None:
    """Which nodes take no job at that time, and from when on the answer counts with them."""
    for node in prospect.away[:SHOWN]:
        back_s = node.back_s - prospect.at_s
        counted = f"counts with it again after {_after(back_s)}, when it is expected back"
        if back_s == float("inf"):
            counted = "does not count with it, because it is not known when it is back"
        typer.echo(f"{node.node} is {node.state}: the answer {counted}.")
    if more := prospect.away[SHOWN:]:
        lost = sum(node.back_s == float("inf") for node in more)
        typer.echo(f"{len(more):,} more nodes are draining or down; it does not count with {lost:,} of them.")


def _after(seconds: float) -> str:
    """A time after the submission, in words."""
    from blox.report.units import duration

    if seconds == float("inf"):
        return "never"
    return duration(seconds) if seconds else "at once"
