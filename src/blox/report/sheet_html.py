"""A sheet as part of a page."""

from __future__ import annotations

import re
from html import escape

from blox.report.measures import Mark
from blox.report.page_parts import scrolled, swatch
from blox.report.sheet import Sheet
from blox.report.verdicts import Verdicts


def sheet_html(sheet: Sheet) -> str:
    """The sheet as an HTML table; a group is named in its first row alone, runs have their colours."""
    top = "".join(
        f'<th class="span" colspan="{count}">{escape(group)}</th>'
        if group
        else f'<th colspan="{count}"></th>'
        for group, count in sheet.groups()
    )
    heads = "".join(f'<th class="name">{escape(head)}</th>' for head in sheet.heads)
    heads += "".join(
        f"<th>{escape(column.measure.name)}{f' <small>({column.unit})</small>' if column.unit else ''}</th>"
        for column in sheet.columns
    )
    position = {name: at for at, name in enumerate(dict.fromkeys(row.names[-1] for row in sheet.rows))}
    body = []
    for at, row in enumerate(sheet.rows):
        names = list(row.names)
        if len(names) > 1 and at and sheet.rows[at - 1].names[0] == names[0]:
            names[0] = ""
        marks = ["" for _ in names[:-1]] + [swatch(position[row.names[-1]]) if len(position) > 1 else ""]
        cells = "".join(f'<th class="name">{mark}{breakable(name)}</th>' for mark, name in zip(marks, names))
        cells += "".join(
            figure_cell(column.texts[at], column.reach[at], column.marks[at]) for column in sheet.columns
        )
        body.append(f"<tr>{cells}</tr>")
    blank = "<th></th>" * len(sheet.heads)
    return scrolled(
        f'<table><thead><tr class="groups">{blank}{top}</tr>'
        f"<tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def verdicts_html(verdicts: Verdicts) -> str:
    """Which run is best in each group, as an HTML table."""
    unit, changes = verdicts.changes()
    against = f"against {verdicts.baseline} ({f'{unit}, ' if unit else ''}95 % interval)"
    head = "".join(f"<th>{escape(text)}</th>" for text in (*verdicts.heads, against))
    body = "".join(
        "<tr>"
        + f'<th class="name">{breakable(row.where)}</th>'
        + "".join(f"<td>{escape(text)}</td>" for text in (row.best, row.others, change))
        + "</tr>"
        for row, change in zip(verdicts.rows, changes)
    )
    return scrolled(f'<table class="texts"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>')


def figure_cell(text: str, reach: str, mark: Mark) -> str:
    """A figure, how far its interval reaches below it, and its mark: the best, or not distinguishable."""
    marked = f' class="{mark}"' if mark else ""
    return f"<td{marked}>{escape(text)}{f'<small>{reach}</small>' if reach else ''}</td>"


def breakable(name: str) -> str:
    """An escaped label that may be broken after the marks that join its parts."""
    return re.sub(r"(?<=[:,+/@])", "<wbr>", escape(name))
