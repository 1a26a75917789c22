"""The conformance suite of parts that are no policies: workloads, performance models, reports,
backends, failures.

Each is tried on the small cases of the policies, or drawn from, twice; what each rule says is told in words,
as for policies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from blox import registry
from blox.checks import source_suites
from blox.checks.broken import Broken
from blox.checks.form import malformed, verb_fault
from blox.checks.kinds import EPOCHS, KINDS, SOURCES
from blox.checks.misspelt import misspelling, misspelt_verb
from blox.checks.report import Finding, Report
from blox.checks.source_suites import Fault
from blox.containment import allowing
from blox.errors import BloxError
from blox.failures.spec import source_from_spec
from blox.foreign import entered, user_fault

Suite = Callable[[Any], Iterator[Fault]]
_SUITES: dict[str, Suite] = {
    "workload": source_suites.workload,
    "performance": source_suites.performance,
    "reports": source_suites.reports,
    "backend": source_suites.backend,
    "failures": source_suites.failures,
}
_CLAIMS = {
    "dataclass": "is a frozen dataclass",
    "documented": "says in its docstring what it does",
    "verb": "",  # by kind
    "optional": "optional attributes are spelt right and of the right form",
    "runs": "raises nothing",
}
_OF_KIND = {
    "workload": {
        "jobs": "yields valid jobs in order of submission",
        "repeatable": "the same seed gives the same jobs",
    },
    "performance": {
        "rates": "gives a rate above 0 for each job, or one for all",
        "repeatable": "two equal runs give equal results",
    },
    "reports": {
        "epochs": "gives each job a whole number of epochs, 0 or more",
        "names": "reports what it says that jobs report, a number for each job",
        "repeatable": "the same job and epoch give the same report",
    },
    "backend": {
        "methods": "the methods of its backend are spelt right and take what they are given",
        "time": "wait_until() returns the time that was asked for, or a later one",
        "finishes": "lets every job that is started finish",
        "repeatable": "two equal runs give equal results",
        "skips": "passing rounds over changes nothing: _next_own_event() names every change",
    },
    "failures": {
        "form": "yields NodeEvent(time_s, node, state)",
        "order": "events are in order of time",
        "nodes": "names nodes that the cluster has, by number",
        "states": "names known states",
        "repeatable": "the same seed gives the same events",
        "known": "known_events() begins with the events that have happened",
    },
}


def kind_of(spec: str) -> str | None:
    """The kind of a part that is no policy, where its name or its file tells; None: a policy, or unknown."""
    if (named := registry.file_in(spec)) is None:
        name = spec.partition(":")[0].strip()
        kinds = [kind for kind in (*KINDS, *SOURCES) if name in registry.names(kind)]
    else:
        cls = registry.load_class(named.path, named.class_name)
        registered, every = registry.kind_of(cls), {**KINDS, **SOURCES}
        kinds = (
            [registered] if registered else [name for name, kind in every.items() if kind.verb in dir(cls)]
        )
        kinds = kinds or [kind.name for kind in every.values() if misspelt_verb(cls, kind)]
    return kinds[0] if len(kinds) == 1 and kinds[0] in SOURCES else None


def check_source(spec: str, kind: str, timeout_s: float) -> Report:
    """The findings about a part that is no policy."""
    with allowing(timeout_s):
        part = source_from_spec(spec) if kind == "failures" else registry.build(kind, spec)
        faults = list(_form(part, kind))
        tried = not any(fault.rule == "verb" for fault in faults) and malformed(part, SOURCES[kind]) is None
        if tried:
            faults += _tried(_SUITES[kind], part)
    untried = source_suites.why_untried(part) if kind == "backend" else ""
    found = {fault.rule: fault for fault in reversed(faults)}
    return Report(spec, kind, tuple(_findings(kind, found, tried, untried)))


def _findings(kind: str, faults: dict[str, Fault], tried: bool, untried: str) -> Iterator[Finding]:
    """One per rule; after a part has raised something, rules that it did not break are not known."""
    claims = {**_CLAIMS, "verb": f"has {SOURCES[kind].call}", **_OF_KIND[kind]}
    for rule, claim in claims.items():
        if fault := faults.get(rule):
            yield Finding(rule, claim, False, fault.what, fault.where, fault.fix)
        elif rule in _OF_KIND[kind] and (not tried or not faults.keys().isdisjoint(("runs", "methods"))):
            yield Finding(rule, claim, None, "not tried to the end, for the reason above")
        elif rule == "runs" and not tried:
            yield Finding(rule, claim, None, "not tried")
        elif rule in (*_OF_KIND[kind], "runs") and untried:
            yield Finding(rule, claim, None, untried)
        else:
            yield Finding(rule, claim, True)


def _form(part: Any, kind: str) -> Iterator[Fault]:
    cls = type(part)
    parameters = vars(cls).get("__dataclass_params__")
    if parameters is None or not parameters.frozen:
        yield Fault("dataclass", f"{cls.__name__} is none", "put @dataclass(frozen=True) above it")
    words = cls.__doc__ or ""
    if not words.strip() or (dataclasses.is_dataclass(cls) and words.startswith(f"{cls.__name__}(")):
        yield Fault("documented", f"{cls.__name__} has no docstring", "say in one line what it does")
    of = SOURCES[kind]
    for verb in (of, EPOCHS) if kind == "reports" else (of,):
        if fault := verb_fault(cls, verb):
            yield Fault("verb", fault.what, f"{fault.fix}: {verb.example}", fault.where)
            return
    if fault := malformed(part, of) or misspelling(cls, of):
        yield Fault("optional", fault.what, fault.fix, fault.where)


def _tried(suite: Suite, part: Any) -> list[Fault]:
    """What a suite finds; what the part raises breaks a rule too."""
    try:
        with entered("the check"):
            return list(suite(part))
    except BloxError as error:
        rule = error.rule if isinstance(error, Broken) and error.rule else "runs"
        return [Fault(rule, error.what, error.fix, error.where)]
    except Exception as error:
        told = user_fault(error)
        where = told.where if told is not None else ""
        return [Fault("runs", f"{type(error).__name__}: {error}", "mend that line", where)]
