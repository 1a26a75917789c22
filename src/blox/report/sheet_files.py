"""Tables of runs as files: CSV for programs, Markdown and LaTeX for people."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from blox.errors import BloxError
from blox.report.breakdown import Breakdown
from blox.report.certainty import MARKED, certainty, jobs_told
from blox.report.labels import labels
from blox.report.means_csv import with_bounds
from blox.report.run import Run
from blox.report.sheet import Column, Sheet
from blox.report.sheets import run_sheets
from blox.results.breakdown import breakdown
from blox.results.comparison import Comparison
from blox.results.files import write_text

_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"}, "\N{EN DASH}": "--", "±": "$\\pm$",
}  # fmt: skip


def check_tables(paths: Sequence[Path]) -> None:
    """Refuses files whose name does not say which form they have."""
    for path in paths:
        if path.suffix not in (".csv", *_SHEETS):
            raise BloxError(
                f"no table can be written as {path.suffix or path.name!r}",
                where=f"--table {path}",
                fix="let its name end in .csv, .md or .tex",
            )


def write_table(
    path: Path, runs: Sequence[Run], by: Sequence[str] = (), measures: Sequence[str] = ()
) -> None:
    """Writes the figures of runs, then by each of the columns `by`, in the form that the name ends in.

    `measures` are those of the groups, as `--measures` names them; a CSV file has all.
    """
    check_tables([path])
    if path.suffix == ".csv":
        write_text(path, to_csv(runs, by))
        return
    sheets = [*run_sheets(runs), *(Breakdown.of(runs, column, measures).sheet for column in by)]
    told = f"{jobs_told(runs)} {certainty(runs)}{MARKED if len(runs) > 1 else ''}"
    write_text(path, f"{_SHEETS[path.suffix](sheets)}\n{'% ' if path.suffix == '.tex' else ''}{told}\n")


def to_csv(runs: Sequence[Run], by: Sequence[str] = ()) -> str:
    """A line per run, and per run and group: all figures in plain units (seconds, dollars, 0 to 1).

    `by` and `group` are empty in the lines of whole runs; there a figure with an interval has its bounds
    beside it, `_low` and `_high`, as in those of groups. Every value of a column is a group.
    """
    names = labels(runs)
    compared = Comparison.of(runs)
    lines: list[tuple[str, str, str, Mapping[str, Any]]] = [
        ("", "", name, with_bounds(compared, position)) for position, name in enumerate(names)
    ]
    for column in by:
        for name, run in zip(names, runs):
            found = breakdown(run, column)
            for at, group in enumerate(found[column].tolist()):
                figures = {key: values[at].item() for key, values in found.items() if key != column}
                lines.append((column, str(group), name, figures))
    keys = list(dict.fromkeys(key for *_, figures in lines for key in figures))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["by", "group", "run", *keys])
    writer.writerows([*names, *(_cell(figures.get(key)) for key in keys)] for *names, figures in lines)
    return file.getvalue()


def to_markdown(sheets: Sequence[Sheet]) -> str:
    """Tables as Markdown has them, the best value of each column in bold."""
    parts = []
    for sheet in sheets:
        lines = [[*sheet.heads, *(column.head for column in sheet.columns)]]
        lines.append(["---"] * len(sheet.heads) + ["---:"] * len(sheet.columns))
        for position, row in enumerate(sheet.rows):
            cells = [(_with_reach(column, position), column.marks[position]) for column in sheet.columns]
            lines.append([*row.names, *(f"**{text}**" if mark else text for text, mark in cells)])
        table = "\n".join(f"| {' | '.join(_md(cell) for cell in line)} |" for line in lines)
        parts.append(f"**{_md(sheet.title)}**\n\n{table}\n")
    return "\n".join(parts)


def to_latex(sheets: Sequence[Sheet]) -> str:
    r"""Tables for \usepackage{booktabs}, the best value of each column in bold."""
    return "% \\usepackage{booktabs}\n\n" + "\n".join(_latex_table(sheet) for sheet in sheets)


def _latex_table(sheet: Sheet) -> str:
    names = len(sheet.heads)
    top, rules, at = [""] * names, [], names
    for group, count in sheet.groups():
        if group:
            top.append(f"\\multicolumn{{{count}}}{{c}}{{{_tex(group)}}}")
            rules.append(f"\\cmidrule(lr){{{at + 1}-{at + count}}}")
        else:
            top += [""] * count
        at += count
    units = (f" ({column.unit})" if column.unit else "" for column in sheet.columns)
    heads = [*sheet.heads, *(column.measure.name + unit for column, unit in zip(sheet.columns, units))]
    lines = [
        f"% {sheet.title}",
        f"\\begin{{tabular}}{{{'l' * names}{'r' * len(sheet.columns)}}}",
        "\\toprule",
        *([f"{' & '.join(top)} \\\\", "".join(rules)] if rules else []),
        f"{' & '.join(map(_tex, heads))} \\\\",
        "\\midrule",
    ]
    for position, row in enumerate(sheet.rows):
        cells = [_tex(name) for name in row.names]
        for column in sheet.columns:
            text = _tex(_with_reach(column, position))
            cells.append(f"\\textbf{{{text}}}" if column.marks[position] else text)
        if names > 1 and position and row.names[0] != sheet.rows[position - 1].names[0]:
            lines.append("\\addlinespace")
        lines.append(f"{' & '.join(cells)} \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


_SHEETS: dict[str, Callable[[Sequence[Sheet]], str]] = {".md": to_markdown, ".tex": to_latex}


def _with_reach(column: Column, position: int) -> str:
    return " ".join(filter(None, (column.texts[position], column.reach[position])))


def _cell(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _tex(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in text)


def _md(cell: str) -> str:
    """A text in a cell: one line, that neither ends the cell nor begins a tag."""
    return re.sub(r"\s+", " ", cell.replace("|", "\\|").replace("<", "&lt;"))
