"""The decision as one HTML page, and as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blox.decision.evidence import Evidence
from blox.decision.words import Table, basis, claim, price, tables
from blox.disk.toml_text import to_toml
from blox.report import colours, figure_style, units
from blox.report.page import document
from blox.report.page_parts import embedded, scrolled, section
from blox.report.sheet_html import breakable
from blox.results.files import write_text

if TYPE_CHECKING:
    from rich.text import Text

    from blox.report.wide_table import WideTable


def write_page(path: Path, found: Evidence) -> None:
    """Writes the page: whole, or not at all."""
    parts: list[str] = []
    for table in tables(found):
        parts.append(section(table.name, table.title, table.caption, _html(table), long=True))
        if table.name == "ranking":
            picture = embedded("changes", _changes(found))
            caption = (
                f"Average waiting under {found.best} less that under {found.study.present}; 95 % intervals."
            )
            parts.append(section("picture", "Who gains and who pays", caption, picture))
    kept = to_toml(found.study.on_log(found.best).to_table())
    parts.append(section("settings", "What was run", basis(found), f"<pre>{escape(kept)}</pre>", long=True))
    write_text(path, document("A decision about a scheduler", claim(found), price(found), parts))


def write_changes(path: Path, found: Evidence) -> None:
    """Writes every figure of every scheduler and group as CSV, with its change against the present one."""
    lines = ["scheduler,by,group,figure,value,change,low,high"]
    for scheduler in found.study.schedulers:
        for key in found.on_log[scheduler]:
            value = found.value(scheduler, *key)
            change = None if scheduler == found.study.present else found.change(scheduler, *key)
            bounds = ("", "", "") if change is None else (change.estimate, change.low, change.high)
            cells = (scheduler, key.by, key.group, key.figure, value, *bounds)
            lines.append(",".join(_csv_cell(cell) for cell in cells))
    write_text(path, "\n".join(lines) + "\n")


def _csv_cell(cell: object) -> str:
    text = repr(cell) if isinstance(cell, float) else str(cell)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n') else text


def terminal_tables(found: Evidence) -> Iterator[tuple[Table, WideTable]]:
    """The same tables for the terminal."""
    from blox.report.wide_table import Column, WideTable, right

    for table in tables(found):
        if not table.rows:
            continue
        columns = [
            Column("", right(head), [_cell(row[at]) for row in table.rows])
            for at, head in enumerate(table.heads)
            if at
        ]
        yield table, WideTable([table.heads[0]], [[row[0]] for row in table.rows], columns)


def _cell(text: str) -> Text:
    from blox.report.wide_table import right

    return right("\n".join(_folded(text, 44)))


def _folded(text: str, width: int) -> list[str]:
    """A long text in lines of at most so many characters, broken at blanks."""
    import textwrap

    return textwrap.wrap(text, width) or [""]


def _html(table: Table) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in table.heads)
    body = "".join(
        f'<tr><th class="name">{breakable(row[0])}</th>'
        + "".join(f"<td>{escape(text)}</td>" for text in row[1:])
        + "</tr>"
        for row in table.rows
    )
    kind = "" if table.name != "undecided" else ' class="texts"'
    return scrolled(f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _changes(found: Evidence) -> Any:
    """The change of average waiting of every group, with its interval."""
    best = found.best
    rows = [
        (by, group, change)
        for by in ("all", "size", "tenant", "length")
        for group in found.groups(by)
        if (change := found.change(best, by, group, "waited_s")) is not None
    ]
    unit = units.axis_unit(max((abs(change.estimate) for *_, change in rows), default=0.0))
    figure = figure_style.empty(height=120 + 24 * len(rows))
    figure.add_scatter(
        x=[change.estimate / unit.seconds for *_, change in rows],
        y=[group for _, group, _ in rows],
        mode="markers",
        name=best,
        marker={"color": colours.of_run(0), "size": 9},
        error_x=figure_style.reach(
            [(change.estimate - change.low) / unit.seconds for *_, change in rows],
            [(change.high - change.estimate) / unit.seconds for *_, change in rows],
        ),
    )
    figure.update_xaxes(title_text=f"change of average waiting ({unit.name})", zeroline=True)
    figure.update_yaxes(autorange="reversed", showgrid=False, automargin=True, type="category")
    return figure
