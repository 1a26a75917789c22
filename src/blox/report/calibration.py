"""How close simulation comes to what really happened, as a table for the terminal, the page and a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from blox.report import units
from blox.report.change_text import signed
from blox.results.calibration import Closeness

if TYPE_CHECKING:
    from blox.report.wide_table import WideTable

HEADS = (
    *("waited\nreally", "simulated", "difference\n(95 % interval)", "p95\nreally", "p95\nsimulated"),
    "nearly\nright",
)
CAPTION = (
    "Waiting: all time without GPUs. Nearly right: jobs whose wait is told to within 10 min or a tenth. An "
    "exclamation mark: the group surely waits longer or shorter in simulation than it did, by more than that."
)


def told(name: str, rows: Sequence[Closeness]) -> str:
    """One sentence on how close a simulated scheduler comes, and one on where it does not."""
    every = rows[0]
    off = [each.group for each in rows[1:] if each.off]
    where = f"Not so for {', '.join(off)}." if off else "No group of jobs is surely off by more."
    return (
        f"{name} in simulation: jobs wait {units.duration(every.simulated_s)} on average, really "
        f"{units.duration(every.real_s)}: a difference of {signed(every.change)}. "
        f"{100 * every.near:.0f} % of the waits are nearly right. {where}"
    )


def cells(row: Closeness) -> tuple[str, ...]:
    """The texts of a row, below HEADS."""
    waits = (units.duration(seconds) for seconds in (row.real_s, row.simulated_s))
    tails = (units.duration(seconds) for seconds in (row.real_p95_s, row.simulated_p95_s))
    mark = " !" if row.off else ""
    return (*waits, signed(row.change) + mark, *tails, f"{100 * row.near:.0f} %")


def calibration_table(rows: Sequence[Closeness]) -> WideTable:
    """A row per group of jobs."""
    from blox.report.wide_table import Column, WideTable, right

    texts = [cells(row) for row in rows]
    columns = [Column("", right(head), [right(text[at]) for text in texts]) for at, head in enumerate(HEADS)]
    return WideTable(["jobs", "number"], [[row.group, f"{row.jobs:,}"] for row in rows], columns)


def calibration_html(rows: Sequence[Closeness]) -> str:
    """The same for the page."""
    heads = "".join(f"<th>{escape(' '.join(head.split()))}</th>" for head in HEADS)
    body = "".join(
        f'<tr><th class="name">{escape(row.group)}</th><td>{row.jobs:,}</td>'
        + "".join(f"<td>{escape(text)}</td>" for text in cells(row))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll"><table><thead><tr><th>jobs</th><th>number</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def calibration_csv(runs: Sequence[tuple[str, Sequence[Closeness]]]) -> str:
    """Every figure of every run, in seconds."""
    heads = "run,by,group,jobs,real_s,simulated_s,change_s,low_s,high_s,real_p95_s,simulated_p95_s,near,off"
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(heads.split(","))
    writer.writerows(
        (name, row.by, row.group, row.jobs, row.real_s, row.simulated_s, row.change.estimate, row.change.low,
         row.change.high, row.real_p95_s, row.simulated_p95_s, row.near, int(row.off))
        for name, rows in runs
        for row in rows
    )  # fmt: skip
    return file.getvalue()
