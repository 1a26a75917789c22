"""Which policy is meant, and of which kind: from a spec string, a class or a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blox import registry
from blox.checks.kinds import KINDS, SOURCES, Kind
from blox.checks.misspelt import misspelt_verb
from blox.errors import BloxError, suggestion
from blox.optional import declared


@dataclass(frozen=True)
class Subject:
    """What is to be checked. `policy` is None where it cannot be built; `trouble` says why."""

    label: str
    kind: Kind
    cls: type
    policy: Any
    trouble: BloxError | None = None
    built_with: str = ""  # options that the class itself names for its check, where its defaults do not do


def find(policy: object, kind: str | None = None) -> Subject:
    """The policy that is meant. Raises BloxError if there is none, or if its kind is not plain."""
    wanted = None if kind is None else _kind_to_check(kind)
    if isinstance(policy, str):
        return _from_spec(policy.strip(), wanted)
    if isinstance(policy, type):
        return _built(policy.__name__, _kind_of(policy, wanted, policy.__name__), policy, "")
    cls = type(policy)
    label = registry.name_of(cls)
    return Subject(label, _kind_of(cls, wanted, label), cls, policy)


def registered() -> tuple[list[tuple[str, str]], list[BloxError]]:
    """(kind, name) of every policy that `blox check --all` checks, and why others cannot be loaded."""
    found, faults = [], []
    for kind in KINDS:
        classes, broken = registry.survey(kind)
        found += [(kind, name) for name in classes]
        faults += broken
    return found, faults


def _from_spec(spec: str, wanted: Kind | None) -> Subject:
    if not spec:
        raise BloxError("an empty policy spec", fix="give a name (las) or a file (./mine.py:Mine)")
    if (named := registry.file_in(spec)) is not None:
        cls = registry.load_class(named.path, named.class_name)
        return _built(spec, _kind_of(cls, wanted, spec), cls, named.options)
    name, _, options = spec.partition(":")
    kind = _kind_of_name(name.strip()) if wanted is None else wanted
    return _built(spec, kind, registry.find(kind.name, name.strip()), options)


def _kind_to_check(name: str) -> Kind:
    """The kind of policy of that name; a wrong one is answered with all kinds that can be checked."""
    if name in SOURCES:
        raise BloxError(
            f"{name} is no kind of policy, and other parts are checked by their specs",
            where="kind",
            fix=f'give a text: check("./mine.py:Mine", "{name}")',
        )
    if name not in KINDS:
        fix = suggestion(name, (*KINDS, *SOURCES))
        raise BloxError(f"no kind of part that can be checked is called {name!r}", where="kind", fix=fix)
    return KINDS[name]


def _kind_of_name(name: str) -> Kind:
    holders = [kind for kind in KINDS.values() if name in registry.names(kind.name)]
    if not holders:
        known = [known for kind in (*KINDS, *SOURCES) for known in registry.names(kind)]
        raise BloxError(
            f"no policy and no other part that can be checked is called {name!r}",
            fix=suggestion(name, known) + "; or a file: ./mine.py:Class",
        )
    return _one(holders, name, "is the name of policies of several kinds")


def _kind_of(cls: type, wanted: Kind | None, label: str) -> Kind:
    if wanted is not None:
        return wanted
    if (registered := registry.kind_of(cls)) in KINDS:
        return KINDS[registered]
    holders = [kind for kind in KINDS.values() if callable(getattr(cls, kind.verb, None))]
    holders = holders or [kind for kind in KINDS.values() if misspelt_verb(cls, kind)]
    if not holders:
        verbs = ", ".join(f"{kind.verb}() ({kind.name})" for kind in (*KINDS.values(), *SOURCES.values()))
        raise BloxError(
            f"{cls.__name__} has none of the verbs of a policy or another part",
            where=label,
            fix=f"write one of {verbs}",
        )
    return _one(holders, label, "has the verbs of several kinds")


def _one(kinds: list[Kind], label: str, words: str) -> Kind:
    if len(kinds) > 1:
        names = " or ".join(f"--kind {kind.name}" for kind in kinds)
        raise BloxError(f"{label!r} {words}", where=label, fix=f"say which one is meant: {names}")
    return kinds[0]


def _built(label: str, kind: Kind, cls: type, options: str) -> Subject:
    """The policy, built. A wrong option is the caller's mistake; defaults that do not do are the policy's."""
    where = f"{kind.name} policy {label!r}"
    given = registry.parse_options(options, where=where)
    suggested = "" if given else declared(cls, "check_with")
    try:
        built = registry.instantiate(
            cls, registry.parse_options(suggested, where=where) if suggested else given, where=where
        )
    except BloxError as error:
        if given:
            raise
        return Subject(label, kind, cls, None, error)
    return Subject(label, kind, cls, built, built_with=suggested)
