"""The conformance suite of parts that are no policies: workloads and performance models.

A workload is drawn twice, a performance model runs the small cases of the policies twice; what each rule says
is told in words, as for policies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from blox import registry
from blox.checks.report import Finding, Report
from blox.checks.scenarios import scenarios
from blox.containment import allowing
from blox.errors import BloxError
from blox.foreign import entered, user_fault
from blox.schedulers.las import Las
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.spec import draw, workload_rng
from blox.workloads.table import Array

VERBS = {"workload": "batches", "performance": "rate"}
DRAWN = 2000  # jobs of a workload that are looked at


def check_source(spec: str, kind: str, timeout_s: float) -> Report:
    """The findings about a workload or a performance model."""
    with allowing(timeout_s):
        part = registry.build(kind, spec)
        faults = list(_form(part, kind))
        if not any(fault.rule == "verb" for fault in faults):
            faults += _tried(_workload if kind == "workload" else _performance, part)
    found = {fault.rule: fault for fault in reversed(faults)}
    claims = _CLAIMS | _OF_KIND[kind]
    return Report(
        spec, kind, tuple(found.get(rule, Finding(rule, claim, True)) for rule, claim in claims.items())
    )


_CLAIMS = {
    "dataclass": "is a frozen dataclass",
    "documented": "says in its docstring what it does",
    "verb": "has its method",
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
}


def _broken(kind_claims: dict[str, str], rule: str, what: str, fix: str, where: str = "") -> Finding:
    return Finding(rule, kind_claims[rule], False, what, where, fix)


def _form(part: Any, kind: str) -> Iterator[Finding]:
    cls = type(part)
    parameters = vars(cls).get("__dataclass_params__")
    if parameters is None or not parameters.frozen:
        yield _broken(_CLAIMS, "dataclass", f"{cls.__name__} is none", "put @dataclass(frozen=True) above it")
    words = cls.__doc__ or ""
    if not words.strip() or (dataclasses.is_dataclass(cls) and words.startswith(f"{cls.__name__}(")):
        yield _broken(
            _CLAIMS, "documented", f"{cls.__name__} has no docstring", "say in one line what it does"
        )
    if VERBS[kind] not in dir(cls):
        yield _broken(
            _CLAIMS, "verb", f"{cls.__name__} has no {VERBS[kind]}()", f"write def {VERBS[kind]}(self, ...)"
        )


def _tried(suite: Callable[[Any], Iterator[Finding]], part: Any) -> list[Finding]:
    """What a suite finds; what the part raises breaks a rule too."""
    try:
        with entered("the check"):
            return list(suite(part))
    except BloxError as error:
        return [_broken(_CLAIMS, "runs", error.what, error.fix, error.where)]
    except Exception as error:
        told = user_fault(error)
        where = told.where if told is not None else ""
        return [_broken(_CLAIMS, "runs", f"{type(error).__name__}: {error}", "mend that line", where)]


def _workload(part: Any) -> Iterator[Finding]:
    claims, rng = _OF_KIND["workload"], workload_rng(0)
    last_s, count = 0.0, 0
    for table in part.batches(rng):
        submit = table.columns["submit_s"]
        if len(submit) and (float(submit[0]) < last_s or (np.diff(submit) < 0).any()):
            fix = "sort jobs by submit_s, within a table and from one to the next"
            yield _broken(claims, "jobs", f"jobs are not in order of submission near {last_s:g} s", fix)
            return
        last_s, count = float(submit[-1]) if len(submit) else last_s, count + len(submit)
        if count >= DRAWN:
            break
    first, second = (draw(part, DRAWN, seed=0) for _ in range(2))
    if _differ(first.columns, second.columns):
        yield _broken(claims, "repeatable", "two draws with one seed differ", "draw from `rng` alone")


def _performance(part: Any) -> Iterator[Finding]:
    claims, watched = _OF_KIND["performance"], _Watched(part)
    for case in scenarios("scheduling"):
        each = dataclasses.replace(case, performance=watched)
        one, other = (each.run("scheduling", Las(), skip=False) for _ in range(2))
        if watched.fault:
            yield _broken(claims, "rates", watched.fault, "return one number above 0 per job of grants.jobs")
            return
        if one.jobs["finish_s"].tobytes() != other.jobs["finish_s"].tobytes():
            what = f"finish times differ between two runs (scenario: {case.name})"
            yield _broken(claims, "repeatable", what, "let rates follow from the states and the fields alone")
            return


class _Watched:
    """A performance model whose rates are looked at; ones that cannot be are noted, and 1 stands in."""

    def __init__(self, part: Any) -> None:
        self.part, self.fault = part, ""

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        found = self.part.rate(grants, cluster_state, job_state)
        rates = np.asarray(found, dtype=np.float64)
        if rates.shape not in ((), (len(grants.jobs),)):
            self.fault = f"{rates.shape} rates for {len(grants.jobs)} jobs"
        elif not (np.isfinite(rates) & (rates > 0)).all():
            self.fault = f"a rate is {rates.min():g}"
        good: Array | float = found if not self.fault else 1.0
        return good


def _differ(one: dict[str, Array], other: dict[str, Array]) -> bool:
    return any(one[name].tolist() != other[name].tolist() for name in ("submit_s", "gpus", "duration_s"))
