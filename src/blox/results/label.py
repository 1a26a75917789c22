"""What a run may be called: text that a table has room for."""

from __future__ import annotations

from collections.abc import Iterable

from blox.errors import BloxError, shortened
from blox.locale_text import decoded

LONGEST_LABEL = 200  # characters


def checked_label(label: str, *, where: str) -> str:
    """The label, in UTF-8 whatever the locale. Raises BloxError where it is no text, or is too long."""
    text = decoded("label", label, where=where)
    if len(text) > LONGEST_LABEL:
        raise BloxError(
            f"the label {shortened(text, 80)!r} has {len(text):,} characters",
            where=where,
            fix=f"give a shorter one: at most {LONGEST_LABEL} characters",
        )
    return text


def checked_labels(labels: Iterable[str], *, where: str) -> list[str]:
    """The labels of several runs, each checked. Raises BloxError also where one is empty or given twice."""
    found: dict[str, None] = {}
    for label in labels:
        name = checked_label(label, where=where)
        if not name or name in found:
            what = f"the label {name!r} is given twice" if name else "a label is empty"
            raise BloxError(what, where=where, fix="give each run a label of its own")
        found[name] = None
    return list(found)
