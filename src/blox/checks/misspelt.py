"""Attributes of a part that are probably misspelt: public, read by nothing, one edit from one that is."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable

from blox.checks.broken import Broken
from blox.checks.kinds import Kind
from blox.foreign import shown
from blox.optional import of_kind


def misspelt(cls: type, kind: Kind) -> dict[str, str]:
    """The attributes of a user's class that look like slips of the pen, each with what is probably meant."""
    known = {kind.verb, *of_kind(kind.name)}
    missing = [name for name in sorted(known) if inspect.getattr_static(cls, name, None) is None]
    return _slips(own_names(cls) - known, missing)


def misspelt_verb(cls: type, kind: Kind) -> str:
    """The method of a user's class that is probably meant for the verb of a kind; nothing where none is."""
    found = _slips(own_names(cls), [kind.verb])
    return next((name for name in found if callable(inspect.getattr_static(cls, name))), "")


def misspelt_methods(cls: type, known: Iterable[str]) -> dict[str, str]:
    """The same of methods that a class of ours has already, and that the user's class means to replace."""
    own, names = own_names(cls), sorted(known)
    return _slips(own - {*names}, [name for name in names if name not in own])


def own_names(cls: type) -> set[str]:
    """The public names that classes of a user's file define, in the class or in what it inherits from."""
    return {
        name
        for base in cls.__mro__
        if base.__module__.partition(".")[0] not in ("blox", "builtins", "abc", "typing")
        for name in vars(base)
        if not name.startswith("_")
    }


def _slips(own: Iterable[str], meant: Iterable[str]) -> dict[str, str]:
    return {name: each for name in sorted(own) for each in meant if _one_edit_apart(name, each)}


def misspelling(cls: type, kind: Kind) -> Broken | None:
    """The first such attribute as a fault. A field may well be a parameter of that name: it is none."""
    fields = {field.name for field in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    for name, meant in misspelt(cls, kind).items():
        if name not in fields:
            return Broken(
                f"nothing reads {name!r}: did you mean {meant!r}?",
                where=line_of(cls),
                fix=f"write {meant}; or _{name}, if it is its own",
            )
    return None


def _one_edit_apart(one: str, other: str) -> bool:
    """Whether a letter added, left out, changed or swapped with its neighbour makes one word the other."""
    if len(one) > len(other):
        one, other = other, one
    if one == other or len(other) - len(one) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    swapped = one[:at] + one[at + 1 : at + 2] + one[at : at + 1] + one[at + 2 :]
    return one[at + 1 :] == other[at + 1 :] or swapped == other


def line_of(cls: type) -> str:
    """`file:line` of a class; empty where Python does not know."""
    try:
        return f"{shown(inspect.getsourcefile(cls) or '')}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError):
        return ""
