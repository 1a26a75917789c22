"""`blox report`: finished runs as one HTML page and, if asked, as pictures for paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    dirs: Annotated[list[Path], typer.Argument(help="Results directories, as `blox run --out` writes them.")],
    out: Annotated[Path, typer.Option(help="The page to write: one file, no network needed.")] = Path(
        "report.html"
    ),
    title: Annotated[str, typer.Option(help="What stands above the headline.")] = "blox report",
    pictures: Annotated[
        Path | None, typer.Option(help="Also write the pictures into this directory.")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Formats of the pictures, joined with commas: png, svg, pdf.")
    ] = "png,svg",
) -> None:
    """Write the report of one run, or the comparison of several."""
    from blox.cli.safe_console import SafeConsole
    from blox.report.page import write_report
    from blox.report.static import save_pictures
    from blox.report.table import comparison_table
    from blox.results.result import Result

    results = [Result.load(directory) for directory in dirs]
    # Pictures come first: a missing library or a wrong format is told before anything is written.
    written = [] if pictures is None else save_pictures(pictures, results, _split(formats))
    write_report(out, results, title)
    console = SafeConsole()
    console.print(comparison_table(results))
    console.print(f"report: {out}", highlight=False, soft_wrap=True)
    if written:
        console.print(f"pictures: {len(written)} files in {pictures}", highlight=False, soft_wrap=True)


def _split(formats: str) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in formats.split(",") if name.strip())
