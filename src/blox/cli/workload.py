"""`blox workload`: look at a workload, check it, change its format, draw one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli.terminal import say
from blox.errors import BloxError

if TYPE_CHECKING:
    from rich.table import Table

    from blox.workloads.describe import Description
    from blox.workloads.table import JobTable

app = typer.Typer(help="Describe, convert, generate and validate workloads.", no_args_is_help=True)

GENERATED = 1000  # jobs written of a generator that says no number, where none is given
DRAWN = 10_000  # jobs drawn from an endless generator where no number is given
MOST = 10_000_000  # jobs of a file: more take gigabytes
NAMES_SHOWN = 8  # users, tenants, models listed by name

Spec = Annotated[
    str, typer.Argument(help="philly:load=8, philly:PATH?tenant=x, trace.csv, ./mine.py:Class, ...")
]
Out = Annotated[str, typer.Argument(help="the file to write; .gz is gzipped")]
Seed = Annotated[int, typer.Option(help="seed of a generator's random numbers")]


@app.command()
def describe(
    spec: Spec,
    cluster: Annotated[
        str | None, typer.Option(help="GPUs (128) or a cluster (32x4), to see the offered load")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, max=MOST, help=f"look at the first N jobs (generators: {DRAWN:,})")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Statistics of a workload: arrivals, GPUs, durations, load, and what its reader assumed."""
    from blox.cli.safe_console import SafeConsole
    from blox.workloads.describe import describe as figures

    gpus = None if cluster is None else _gpus_of(cluster)
    table = _jobs_of(spec, jobs, seed)
    found = figures(table)
    console = SafeConsole()
    console.print(_summary(spec, found, gpus))
    console.print(_gpu_counts(found))
    _print_notes(table.notes)


@app.command()
def convert(
    spec: Spec,
    out: Out,
    to: Annotated[str, typer.Option(help="csv (our own), blox, tiresias, elasticflow or philly")] = "csv",
    jobs: Annotated[
        int | None, typer.Option(min=1, max=MOST, help=f"the first N jobs (generators: {DRAWN:,})")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Write a workload in our own CSV, or in another system's format."""
    from blox.workloads.writers import check_name

    check_name(out)
    _write(_jobs_of(spec, jobs, seed), out, to)


@app.command()
def generate(
    spec: Spec,
    out: Out,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST, help=f"how many jobs to draw (default: as many as it says, or {GENERATED:,})"
        ),
    ] = None,
    seed: Seed = 0,
    to: Annotated[str, typer.Option(help="csv (our own), blox, tiresias, elasticflow or philly")] = "csv",
) -> None:
    """Draw jobs from a generator into a file: the same spec and seed give the same bytes."""
    from blox.workloads.extent import stated_jobs
    from blox.workloads.spec import draw, workload_from_spec
    from blox.workloads.trace import Trace
    from blox.workloads.writers import check_name

    check_name(out)
    workload = workload_from_spec(spec)
    if isinstance(workload, Trace):
        raise BloxError(
            "this is a trace, not a generator",
            where=f"workload spec {spec!r}",
            fix="blox workload convert SPEC OUT",
        )
    most = None if stated_jobs(workload) is not None else GENERATED
    table = draw(workload, jobs or most, seed)
    if jobs is not None and len(table) < jobs:
        raise BloxError(
            f"the generator ends after {len(table):,} jobs",
            where=f"workload spec {spec!r}",
            fix=f"--jobs {len(table)}, or let the generator give more",
        )
    _write(table, out, to)


@app.command()
def validate(
    spec: Spec,
    limit: Annotated[int, typer.Option(min=1, help="how many problems to list")] = 20,
    jobs: Annotated[int, typer.Option(min=1, max=MOST, help="how many jobs of a generator to check")] = DRAWN,
    seed: Seed = 0,
) -> None:
    """Check every job of a workload; exit code 2 if anything is wrong."""
    from blox.workloads.readers.base import TraceReader
    from blox.workloads.spec import draw, workload_from_spec
    from blox.workloads.trace import Trace

    workload = workload_from_spec(spec)
    reader = workload.reader if isinstance(workload, Trace) else None
    say(_what_is_valid(reader if isinstance(reader, TraceReader) else None))
    if isinstance(reader, TraceReader):
        table, problems = reader.examine()
        for problem in problems[:limit]:
            say(f"{problem.error(reader.path).text()}")
        if len(problems) > limit:
            say(f"... and {len(problems) - limit:,} more: --limit {len(problems)} lists them all")
    else:
        table, problems = draw(workload, jobs, seed), []
        table.validate()
    _print_notes(table.notes)
    if problems:
        lines = len({problem.line for problem in problems})
        say(
            f"{spec}: {_count(len(problems), 'problem')} in {_count(lines, 'line')}; "
            f"{_count(len(table), 'job')} without one"
        )
        raise typer.Exit(2)
    say(f"{spec}: valid, {_count(len(table), 'job')}")


def _jobs_of(spec: str, jobs: int | None, seed: int) -> JobTable:
    from blox.workloads.spec import draw, workload_from_spec
    from blox.workloads.trace import Trace

    workload = workload_from_spec(spec)
    return draw(workload, jobs if jobs is not None or isinstance(workload, Trace) else DRAWN, seed)


def _write(table: JobTable, out: str, to: str) -> None:
    from blox.workloads.text_files import write_text
    from blox.workloads.writers import write_trace

    written = write_trace(table, to)
    write_text(out, written.text)
    _print_notes((*table.notes, *written.notes))
    say(f"wrote {_count(len(table), 'job')} to {out} ({to})")


def _what_is_valid(reader: object) -> str:
    """The rules of a trace in words, and what the format at hand needs."""
    from blox.registry import name_of
    from blox.workloads.readers.base import TraceReader
    from blox.workloads.validity import RULES, UNIQUE_IDS

    lines = ["In a valid trace:", *(f"  {rule.column} {rule.text}" for rule in RULES), f"  {UNIQUE_IDS}"]
    if isinstance(reader, TraceReader):
        lines.append(f"The format {name_of(type(reader))} needs the columns {', '.join(reader.required)}")
        if reader.optional:
            lines.append(f"  and uses, where present, {', '.join(reader.optional)}")
    return "\n".join(lines) + "\n"


def _summary(spec: str, found: Description, gpus: int | None) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(spec), show_header=False, title_justify="left")
    table.add_column(style="bold")
    table.add_column()
    until = " until the last job would end" if found.demanded_until == "last end" else ""
    percentiles = ", ".join(f"p{p} {_time(v)}" for p, v in found.duration_percentiles_s.items())
    rows = [
        ("jobs", f"{found.jobs:,}"),
        ("span", f"{_time(found.span_s)} from first to last submission"),
        ("arrivals", f"{found.jobs_per_hour:.4g} jobs/hour" if found.span_s > 0 else "all at once"),
        ("duration", f"mean {_time(found.mean_duration_s)}; {percentiles}"),
        ("GPU time", f"{found.gpu_hours:,.1f} GPU hours"),
        ("demand", f"{found.demanded_gpus:,.1f} GPUs busy on average{until}, if nothing waited"),
    ]
    if gpus is not None:
        rows.append(("offered load", f"{found.demanded_gpus / gpus:.3f} of {gpus:,} GPUs"))
        wide = sum(n for count, n in found.gpu_counts.items() if count > gpus)
        if wide:
            rows.append(("too large", f"{wide:,} jobs ask for more than {gpus:,} GPUs"))
    if found.resizable:
        low, high = found.gpus_range
        batches = f"; batch sizes from {found.batch_range[0]:,} to {found.batch_range[1]:,}"
        rows.append(
            (
                "elastic",
                f"{found.resizable:,} jobs can be resized, from {low:,} to {high:,} GPUs"
                f"{batches if found.batch_range[1] else ''}",
            )
        )
    for label, names in found.names.items():
        first = ", ".join(f"{name} {count:,}" for name, count in list(names.items())[:NAMES_SHOWN])
        rows.append((label, f"{len(names):,}: {first}{', ...' if len(names) > NAMES_SHOWN else ''}"))
    for label, text in rows:
        table.add_row(label, escape(text))
    return table


def _gpu_counts(found: Description) -> Table:
    from rich.table import Table

    table = Table(title="GPUs per job", title_justify="left")
    for heading in ("GPUs", "jobs", "of jobs", "of GPU time"):
        table.add_column(heading, justify="right")
    for count, jobs in found.gpu_counts.items():
        share = found.gpu_hours_by_count[count] / found.gpu_hours
        table.add_row(f"{count:,}", f"{jobs:,}", f"{jobs / found.jobs:.2%}", f"{share:.2%}")
    return table


def _gpus_of(cluster: str) -> int:
    """GPUs of a cluster given as a number or as a cluster spec."""
    from blox.state.cluster_spec import cluster_from_spec

    if re.fullmatch("[0-9]{1,15}", cluster.strip()):
        if int(cluster) < 1:
            raise BloxError(f"a cluster of {cluster} GPUs", where="--cluster", fix="give 1 GPU or more")
        return int(cluster)
    return cluster_from_spec(cluster).total_gpus


def _print_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        say(f"note: {note}")


def _count(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def _time(seconds: float) -> str:
    """A time in the unit that reads best."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:,.4g} s"
