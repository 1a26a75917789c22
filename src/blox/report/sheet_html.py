"""A sheet as part of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from blox.report import colours
from blox.report.sheet import Sheet


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
        swatch = f'<span class="swatch" style="background:{colours.of_run(position[row.names[-1]])}"></span>'
        marks = ["" for _ in names[:-1]] + [swatch if len(position) > 1 else ""]
        cells = "".join(f'<th class="name">{mark}{breakable(name)}</th>' for mark, name in zip(marks, names))
        cells += "".join(
            figure_cell(column.texts[at], column.reach[at], at, column.best) for column in sheet.columns
        )
        body.append(f"<tr>{cells}</tr>")
    blank = "<th></th>" * len(sheet.heads)
    return (
        f'<div class="scroll"><table><thead><tr class="groups">{blank}{top}</tr>'
        f"<tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def figure_cell(text: str, reach: str, position: int, best: Sequence[int]) -> str:
    """A figure, how far its interval reaches below it, and its mark: the best, or not distinguishable."""
    mark = "" if position not in best else ' class="best"' if position == best[0] else ' class="tied"'
    return f"<td{mark}>{escape(text)}{f'<small>{reach}</small>' if reach else ''}</td>"


def breakable(name: str) -> str:
    """An escaped label that may be broken after the marks that join its parts."""
    return re.sub(r"(?<=[:,+/@])", "<wbr>", escape(name))
