"""The catalogue: what parts there are and what each takes, read from the classes themselves."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import re
import types
import typing
from dataclasses import dataclass
from typing import Any

from blox import registry
from blox.durations import Seconds, duration_text
from blox.errors import BloxError, suggestion

# kind -> the option that takes it, and what it is for
KINDS = {
    "admission": ("--admission", "which jobs may enter"),
    "scheduling": ("--scheduler", "which job goes first"),
    "placement": ("--placement", "on which GPUs"),
    "termination": ("--termination", "when a job ends"),
    "performance": ("--performance", "how fast jobs run"),
    "workload": ("--workload", "generators: jobs drawn at random"),
    "reader": ("--workload FORMAT:PATH", "trace formats: jobs read from files"),
    "compat": ("--compat", "presets: behave like another system"),
    "metric": ("--metric", "figures of a finished run, worked out on demand"),
    "backend": ("--backend", "what carries plans out"),
    "failures": ("--failures", "which nodes and jobs fail, and when"),
    "reports": ("--reports", "what simulated jobs report about themselves"),
    "launch": ("blox submit --launch", "on a cluster: how the processes of a job are started"),
    "preemption": ("blox submit --preemption", "on a cluster: how a job is made to leave its GPUs"),
}
_OTHER_NAMES = {
    "scheduler": "scheduling",
    "policy": "scheduling",
    "generator": "workload",
    "trace": "reader",
    "failure": "failures",
    "report": "reports",
}


@dataclass(frozen=True)
class ParameterEntry:
    """One parameter as a user writes it; `default` is None where it must be given."""

    name: str
    type: str
    default: str | None


@dataclass(frozen=True)
class Entry:
    """One part: its name in specs, the first line of its docstring, its parameters."""

    name: str
    does: str
    parameters: tuple[ParameterEntry, ...]


def catalogue(kind: str) -> tuple[list[Entry], list[BloxError]]:
    """Every part of a kind by name, installed ones included, and why others cannot be loaded."""
    classes, faults = registry.survey(kind)
    return [entry_of(name, cls) for name, cls in classes.items()], faults


def entry_of(name: str, cls: type) -> Entry:
    """What a class says about itself."""
    does = next(iter((inspect.getdoc(cls) or "").splitlines()), "")
    if dataclasses.is_dataclass(cls) and does.startswith(f"{cls.__name__}("):
        does = ""  # the signature that dataclasses put where there is no docstring
    taken = tuple(
        ParameterEntry(key, type_text(each.type), None if each.required else _default_text(each))
        for key, each in registry.parameters(cls).items()
    )
    return Entry(name, does, taken)


def parts_called(name: str) -> dict[str, list[Entry]]:
    """Every part of that name by kind, each with its whole docstring; none where no part is called so."""
    found: dict[str, list[Entry]] = {}
    for kind in KINDS:
        if name in registry.names(kind):
            cls = registry.find(kind, name)
            entry = entry_of(name, cls)
            found[kind] = [dataclasses.replace(entry, does=_paragraphs(cls)) if entry.does else entry]
    return found


def _paragraphs(cls: type) -> str:
    """The docstring of a class, one line to a paragraph, so that a terminal can wrap it."""
    return re.sub(r"(?<!\n)\n(?=\S)", " ", inspect.getdoc(cls) or "")


def _default_text(parameter: registry.Parameter) -> str:
    return (duration_text if parameter.type is Seconds else value_text)(parameter.default)


def kind_called(word: str) -> str | None:
    """The kind that a word means: also `schedulers`, `scheduler`, `workloads`, ...; None: no kind."""
    singular = word.lower().removesuffix("s")
    for candidate in (word.lower(), singular, _OTHER_NAMES.get(singular, "")):
        if candidate in KINDS:
            return candidate
    return None


def no_such_word(word: str) -> BloxError:
    """The answer to a word that is neither a kind nor a part: the kinds, and parts whose names are near."""
    names = {name for kind in KINDS for name in registry.names(kind)}
    near = difflib.get_close_matches(word[:100].lower(), sorted(names), n=3)
    fix = suggestion(word, (*KINDS, *near))
    return BloxError(f"no kind of part and no part is called {word!r}", where="blox policies", fix=fix)


def type_text(wanted: Any) -> str:
    """A type as the user writes its values: `int`, `by|time`, `text+text`."""
    origin, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_text(each) for each in inner)
    if origin is typing.Literal:
        return "|".join(map(str, inner))
    if origin is tuple:
        return f"{type_text(inner[0])}+..."
    if wanted is type(None):
        return "none"
    names = {int: "int", float: "number", str: "text", bool: "true|false", Seconds: "duration"}
    return names.get(wanted, getattr(wanted, "__name__", str(wanted)))


def value_text(value: Any) -> str:
    """A value as it stands in a spec."""
    if isinstance(value, tuple):
        return "+".join(map(value_text, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return "none" if value is None else str(value)
