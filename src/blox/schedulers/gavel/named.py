"""Options that give a value to each of several names: weights of entities, prices of GPU types."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

from blox.errors import BloxError, suggestion


def numbers(texts: Iterable[str], what: str, form: str) -> dict[str, float]:
    """`red:2` as {"red": 2.0}; faults are told as no `what`. Numbers are above 0."""
    found = {}
    for text in texts:
        name, _, number = text.rpartition(":")
        try:
            found[name] = float(number)
        except ValueError:
            found[name] = -1.0
        if not (name and 0 < found[name] < math.inf):
            raise BloxError(f"{text!r} is no {what}", fix=f"write {form}+{form}")
    return found


def words(texts: Iterable[str], valid: Collection[str], what: str) -> dict[str, str]:
    """`red:fifo` as {"red": "fifo"}; faults are told as not saying `what`."""
    found = {}
    for text in texts:
        name, _, found[name] = text.rpartition(":")
        if found[name] not in valid:
            choices = " or ".join(f"NAME:{word}" for word in sorted(valid, reverse=True))
            raise BloxError(
                f"{text!r} does not say {what}",
                fix=f"write {choices}; {suggestion(found[name], valid)}",
            )
    return found


def check_known(names: Iterable[str], known: Collection[str], what: str) -> None:
    """Refuses a name that nothing known has."""
    for name in names:
        if name not in known:
            raise BloxError(
                f"there is no {what} {name!r}", where="scheduling 'gavel'", fix=suggestion(name, known)
            )
