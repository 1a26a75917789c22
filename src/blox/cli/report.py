"""`blox report`: finished runs as one HTML page and, if asked, as pictures for paper."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from blox.cli import figures, options
from blox.errors import BloxError

_PAGE = b"<!doctype html>"  # what every page begins with


def report(
    dirs: Annotated[
        list[Path], typer.Argument(help="Results directories, as `blox run` and `blox compare` write them.")
    ],
    out: Annotated[Path, typer.Option(help="The page to write: one file, no network needed.")] = Path(
        "report.html"
    ),
    title: Annotated[str, typer.Option(help="What stands above the headline.")] = "blox report",
    pictures: Annotated[
        Path | None, typer.Option(help="Also write the pictures into this directory.")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Formats of the pictures, joined with commas: pdf, svg, png.")
    ] = "pdf,svg",
    baseline: options.Baseline = None,
    metric: options.Metrics = None,
    by: options.By = None,
    measures: options.Measures = None,
    table: options.Tables = None,
    label: options.Labels = None,
) -> None:
    """Write the report of one run, or the comparison of several; also by GPU count, tenant, model, ..."""
    from blox.cli.safe_console import SafeConsole
    from blox.report.certainty import certainty, jobs_told
    from blox.report.page import write_report
    from blox.report.static import save_pictures
    from blox.report.table import comparison_table
    from blox.results.comparison import Comparison
    from blox.results.own_metrics import metrics_from_spec, with_metrics
    from blox.results.place import holding, written_by_a_run
    from blox.results.replications import load_runs

    if baseline is not None and pictures is None:
        raise BloxError(
            "--baseline is for pictures, and none are drawn", where="--baseline", fix="add --pictures DIR"
        )
    _check_page(out)
    tables = figures.Tables.of(by, table, measures)
    metrics = metrics_from_spec(",".join(metric or ()))
    loaded = [run for directory in dirs for run in load_runs(directory)]
    measured = [figures.of_each(run, lambda one: with_metrics(one, metrics)) for run in loaded]
    results = Comparison(figures.labelled(measured, label))
    tables.check_measures(results)
    # Pictures come first: a missing library or a wrong format is told before anything is written.
    written = [] if pictures is None else save_pictures(pictures, results, _split(formats), baseline)
    with holding(out.parent) if written_by_a_run(out.parent) else nullcontext():
        write_report(out, results, title, tables.by, tables.measures)
    console = SafeConsole()
    console.print(comparison_table(results))
    console.print(f"{jobs_told(results)} {certainty(results)}", highlight=False, markup=False)
    tables.show(results)
    console.print(f"report: {out}", highlight=False, soft_wrap=True)
    if written:
        console.print(f"pictures: {len(written)} files in {pictures}", highlight=False, soft_wrap=True)


def _check_page(out: Path) -> None:
    """Refuses a name of another form than a page, and to take the place of anything but a page."""
    if out.exists():
        beginning = out.open("rb").read(len(_PAGE)).lower() if out.is_file() else b"no file"
        if beginning and beginning != _PAGE:
            raise BloxError(
                "there is something of that name already, and it is no report",
                where=str(out),
                fix="give another name, such as report.html",
            )
    if out.suffix not in (".html", ".htm"):
        raise BloxError(
            f"no page can be written as {out.suffix or out.name!r}",
            where=f"--out {out}",
            fix="let its name end in .html; --pictures DIR --format pdf draws for paper",
        )


def _split(formats: str) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in formats.split(",") if name.strip())
