"""The conformance suite: one finding per rule of the contract, each explained in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from blox.checks.broken import Broken, line_of_verb
from blox.checks.difference import difference
from blox.checks.find import Subject, find
from blox.checks.form import malformed, verb_fault
from blox.checks.guard import guard
from blox.checks.kinds import Kind
from blox.checks.misspelt import misspelling
from blox.checks.probe import probe
from blox.checks.report import Finding, Report
from blox.checks.scenarios import Outcome, Scenario, scenarios
from blox.containment import allowing
from blox.errors import BloxError
from blox.optional import declared
from blox.state.jobs import JobState

_ROWS = {
    "admission": "accepts jobs of the wait queue, each once",
    "scheduling": "lists active jobs, each once",
    "placement": "places jobs of the schedule, each once",
    "termination": "ends active jobs, each once",
}

# Rules about the content of an answer: a policy that breaks one has returned an answer of the right type.
_CONTENT = frozenset(("rows", "columns", "gangs", "gpus", "types"))

TIMEOUT_S = 60.0  # for a decision in a small case

# How an answer that kept every rule was got: from a guard, or from a probe, which compares several.
_GUARDED, _PROBED = "guarded", "probed"


def check(policy: object, kind: str | None = None, timeout_s: float = TIMEOUT_S) -> Report:
    """The findings about a policy; see `blox.checks.check`."""
    with allowing(timeout_s):
        return _report(find(policy, kind), timeout_s)


def _report(subject: Subject, timeout_s: float) -> Report:
    faults = _static_faults(subject)
    tried = subject.policy is not None and "verb" not in faults and _malformed(subject) is None
    valid: set[str] = set()
    if tried:
        faults = _faults_in_runs(subject, valid, timeout_s) | faults
    return Report(subject.label, subject.kind.name, tuple(_findings(subject, faults, tried, valid)))


def _claims(kind: Kind) -> dict[str, str]:
    """Every rule that a policy of a kind is held to, in the order of the report."""
    claims = {
        "dataclass": "is a frozen dataclass",
        "defaults": "can be built from its defaults",
        "documented": "says in its docstring what it does",
        "verb": f"has {kind.call}",
        "optional": "optional attributes are spelt right and of the right form",
        "runs": "raises nothing",
        "time": "answers in time",
        "answer": f"returns {kind.gives}",
        "rows": _ROWS[kind.name],
    }
    if kind.name == "scheduling":
        claims |= {
            "columns": "aligns its columns, and every key is a number",
            "gangs": "grants what a job can use",
            "gpus": "pins no GPU twice, and none that is missing, down or of another type",
        }
    if kind.name == "placement":
        claims |= {
            "columns": "aligns its columns",
            "gangs": "gives every job all the GPUs that it is granted, or none",
            "gpus": "uses no GPU twice, and none that is missing or down",
            "types": "gives jobs the GPU types that they may use",
        }
    return claims | {
        "pure": "changes nothing but its memory",
        "deterministic": "same state, same answer",
        "fork": "a fork of the state takes its memory along",
        "repeatable": "two equal runs give equal results",
        "stable": "stable_until() keeps its promise: passing rounds over changes nothing",
        "finishes": "lets every job finish",
    }


def _findings(subject: Subject, faults: dict[str, Broken], tried: bool, valid: set[str]) -> Iterator[Finding]:
    stopped = not faults.keys().isdisjoint(_CONTENT | {"runs", "time", "answer", "pure"})
    claims = _claims(subject.kind)
    assert faults.keys() <= claims.keys(), "a fault that no claim names would not be told"
    for rule, claim in claims.items():
        fault = faults.get(rule)
        if fault is not None:
            yield Finding(rule, claim, False, fault.what, fault.where, fault.fix)
        elif rule == "defaults" and subject.built_with:
            yield Finding(rule, claim, None, f"needs options; checked with {subject.built_with}")
        elif rule in ("dataclass", "defaults", "documented", "verb"):
            yield Finding(rule, claim, True)
        elif not tried:
            yield Finding(rule, claim, None, "not tried")
        elif rule == "stable" and declared(subject.policy, "stable_until") is None:
            yield Finding(rule, claim, None, "it has none, so it is asked every round: correct, and slower")
        elif rule in ("repeatable", "stable", "finishes") and stopped:
            yield Finding(rule, claim, None, "not tried to the end, for the reason above")
        elif not _was_seen(rule, faults, valid):
            yield Finding(rule, claim, None, "not tried: it gave no valid answer")
        else:
            yield Finding(rule, claim, True)


def _was_seen(rule: str, faults: dict[str, Broken], valid: set[str]) -> bool:
    """Whether there was an answer to judge by a rule that no answer is known to break."""
    if rule in ("deterministic", "fork", "repeatable"):
        return _PROBED in valid
    if rule == "runs":
        return bool(valid) or not faults.keys().isdisjoint(_CONTENT | {"answer"})
    if rule == "answer":
        return bool(valid) or not faults.keys().isdisjoint(_CONTENT)
    return bool(valid)


def _static_faults(subject: Subject) -> dict[str, Broken]:
    """What can be seen without running anything."""
    cls, kind = subject.cls, subject.kind
    faults: dict[str, Broken] = {}
    parameters = getattr(cls, "__dataclass_params__", None)
    if not dataclasses.is_dataclass(cls) or parameters is None or not parameters.frozen:
        kept = "is not a dataclass" if parameters is None else "can be assigned to"
        faults["dataclass"] = Broken(
            f"{cls.__name__} {kept}: its fields are its parameters, its repr is its name in memory",
            fix="put @dataclass(frozen=True) above the class",
        )
    if subject.trouble is not None:
        faults["defaults"] = Broken(
            subject.trouble.what,
            where=subject.trouble.where,
            fix="give every field a default that works; or check it with options: "
            f"blox check {subject.label}:key=value",
        )
    words = cls.__doc__ or ""
    generated = dataclasses.is_dataclass(cls) and words.startswith(f"{cls.__name__}(")
    if not words.strip() or generated:
        faults["documented"] = Broken(
            f"{cls.__name__} has no docstring", fix="say in one line what it does; `blox policies` shows it"
        )
    if trouble := verb_fault(cls, kind):
        faults["verb"] = trouble
    if fault := _malformed(subject) or misspelling(cls, kind):
        faults["optional"] = fault
    return faults


def _malformed(subject: Subject) -> Broken | None:
    return None if subject.policy is None else malformed(subject.policy, subject.kind)


def _faults_in_runs(subject: Subject, valid: set[str], timeout_s: float) -> dict[str, Broken]:
    """The first fault against each rule, over all scenarios; adds to `valid` how valid answers were got.

    A policy that does not answer in time is tried no further.
    """
    faults: dict[str, Broken] = {}
    for case in scenarios(subject.kind.name):
        for fault in _faults_in(case, subject.kind, subject.policy, valid, timeout_s):
            faults.setdefault(fault.rule, fault)
        if "time" in faults:
            break
    return faults


def _faults_in(case: Scenario, of: Kind, policy: Any, valid: set[str], timeout_s: float) -> Iterator[Broken]:
    kind, scene = of.name, f"scenario: {case.name}"
    probed = executed = passed_over = None
    try:
        try:
            probed = case.run(kind, _noting(probe(kind, policy, timeout_s), of, valid, _PROBED), skip=False)
        except Broken as fault:
            yield fault.at(f"{fault.where} ({scene})")
            if fault.rule not in ("deterministic", "fork"):
                return
        executed = case.run(kind, _noting(guard(kind, policy, timeout_s), of, valid, _GUARDED), skip=False)
        if declared(policy, "stable_until") is not None:
            passed_over = case.run(kind, guard(kind, policy, timeout_s), skip=True)
    except Broken as fault:
        yield fault.at(f"{fault.where} ({scene})")
    except BloxError as error:
        place = f"{error.where.removeprefix('at ')} ({scene})".strip()
        yield Broken(error.what, where=place, fix=_TURN[kind], rule="finishes")
        return
    if executed is not None:
        yield from _faults_between(case, kind, policy, probed, executed, passed_over)


def _noting(watched: Any, kind: Kind, valid: set[str], how: str) -> Any:
    """`watched`, which adds `how` to `valid` once it answers; answers about no jobs do not count."""
    verb, state = getattr(watched, kind.verb), kind.arguments.index("job_state")

    def answer(*arguments: Any) -> Any:
        answered = verb(*arguments)
        job_state: JobState = arguments[state]
        if len(job_state.waiting if kind.name == "admission" else job_state.active):
            valid.add(how)
        return answered

    setattr(watched, kind.verb, answer)
    return watched


def _faults_between(
    case: Scenario,
    kind: str,
    policy: Any,
    probed: Outcome | None,
    executed: Outcome,
    passed_over: Outcome | None,
) -> Iterator[Broken]:
    """What the outcomes of runs that should be equal say when they are not."""
    scene = f"scenario: {case.name}"
    if executed.starved:
        yield Broken(
            f"{len(executed.starved)} of {len(case.jobs)} jobs starve: "
            f"job {'; job '.join(executed.starved[:3])}",
            where=scene,
            fix=_TURN[kind],
            rule="finishes",
        )
    if probed and (words := difference(probed, executed, "the first time", "the second time")):
        yield Broken(
            words,
            where=scene,
            fix="keep nothing between runs, in no module or class; no clock, no unseeded random numbers",
            rule="repeatable",
        )
    elif passed_over and (
        words := difference(executed, passed_over, "with every round executed", "with rounds passed over")
    ):
        yield Broken(
            words,
            where=f"{line_of_verb(policy, 'stable_until')} ({scene})",
            fix="return the earliest time at which the answer could change though nothing happens; "
            "or leave stable_until() out",
            rule="stable",
        )


_TURN = {
    "admission": "admit a job at the latest when nothing else is admitted",
    "scheduling": "list every active job sooner or later, and let none be displaced for ever",
    "placement": "place any job that fits on the idle cluster when the cluster is idle",
    "termination": "ending jobs early must not keep others from their GPUs",
}
