"""What can be seen of a part without running it: its verb, and what it says besides, by name and form."""

from __future__ import annotations

import inspect
from typing import Any

from blox.checks.broken import Broken, line_of_verb
from blox.checks.kinds import Kind
from blox.checks.misspelt import misspelt_verb
from blox.errors import BloxError
from blox.optional import declared, of_kind


def verb_fault(cls: type, kind: Kind) -> Broken | None:
    """Why the verb of a part cannot be called; None where it can."""
    verb = getattr(cls, kind.verb, None)
    fix = f"write def {kind.call}"
    if not callable(verb):
        near = misspelt_verb(cls, kind)
        words = f": nothing calls {near}(), did you mean {kind.verb}()?" if near else ""
        where = line_of_verb(object.__new__(cls), near) if near else ""
        return Broken(f"{cls.__name__} has no method {kind.verb}(){words}", where=where, fix=fix)
    if trouble := cannot_be_called(verb, None, *kind.arguments):
        where = line_of_verb(object.__new__(cls), kind.verb)
        return Broken(f"{kind.verb}() cannot be called: {trouble}", where=where, fix=fix)
    return None


def malformed(part: Any, kind: Kind) -> Broken | None:
    """The first optional attribute that is not what it has to be, or a method that cannot be called."""
    for name, attribute in of_kind(kind.name).items():
        try:
            said = declared(part, name)
        except BloxError as error:
            return Broken(error.what, where=error.where, fix=error.fix)
        arguments = attribute.form.arguments
        if said is None or arguments is None:
            continue
        if trouble := cannot_be_called(said, *arguments):
            return Broken(
                f"{name}() cannot be called: {trouble}",
                where=line_of_verb(part, name),
                fix=f"write def {attribute.form.written(name)}",
            )
    return None


def cannot_be_called(function: Any, *arguments: Any) -> str:
    """Why a function cannot be called with so many arguments; nothing where it can, or none can tell."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        return str(error)
    except ValueError:  # no signature to be had: a run will tell
        return ""
    return ""
