"""What is tried with a part that is no policy: a suite for each kind, which yields the rules broken."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from blox.backends.base import BackendBase
from blox.checks.broken import Broken, line_of_verb
from blox.checks.difference import difference
from blox.checks.form import cannot_be_called
from blox.checks.misspelt import line_of, misspelt_methods, own_names
from blox.checks.scenarios import Scenario, scenarios
from blox.failures.timeline import WrongEvent, wrong_event
from blox.optional import declared
from blox.performance.rates import fault_in
from blox.protocols import Backend
from blox.schedulers.las import Las
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec, cluster_from_spec
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import Allocation
from blox.workloads.spec import draw, workload_rng
from blox.workloads.table import Array

DRAWN = 2000  # jobs of a workload that are looked at
EVENTS = 500  # events of a source of failures that are looked at
TIMES = 50  # of them, at which it is asked what is known
NODES = "64x8:racks=8"  # the cluster whose nodes it says fail


class Fault(NamedTuple):
    """A rule that is broken: what is wrong, and how to mend it."""

    rule: str
    what: str
    fix: str
    where: str = ""


def workload(part: Any) -> Iterator[Fault]:
    """Draws jobs twice."""
    last_s, count = 0.0, 0
    for table in part.batches(workload_rng(0)):
        submit = table.columns["submit_s"]
        if len(submit) and (float(submit[0]) < last_s or (np.diff(submit) < 0).any()):
            fix = "sort jobs by submit_s, within a table and from one to the next"
            yield Fault("jobs", f"jobs are not in order of submission near {last_s:g} s", fix)
            return
        last_s, count = float(submit[-1]) if len(submit) else last_s, count + len(submit)
        if count >= DRAWN:
            break
    first, second = (draw(part, DRAWN, seed=0) for _ in range(2))
    if _differ(first.columns, second.columns):
        yield Fault("repeatable", "two draws with one seed differ", "draw from `rng` alone")


def performance(part: Any) -> Iterator[Fault]:
    """Runs the small cases twice, each rate looked at."""
    watched = _WatchedRates(part)
    for case in scenarios("scheduling"):
        each = dataclasses.replace(case, performance=watched)
        differs = _two_runs_differ(each)
        if watched.fault:
            yield Fault("rates", watched.fault, "return one number above 0 per job of grants.jobs")
            return
        if differs:
            yield Fault("repeatable", differs, "let rates follow from the states and the fields alone")
            return


def reports(part: Any) -> Iterator[Fault]:
    """Runs the small cases, each answer looked at and asked for twice."""
    watched = _WatchedReports(part)
    for case in scenarios("scheduling"):
        dataclasses.replace(case, reports=watched).run("scheduling", Las(), skip=False)
        if watched.fault is not None:
            yield watched.fault
            return


def backend(part: Any) -> Iterator[Fault]:
    """Runs the small cases twice under the loop, and again with rounds passed over; one in real time is
    not tried."""
    if why_untried(part):
        return
    watched = _WatchedOpen(part)
    for case in scenarios("backend"):
        each = dataclasses.replace(case, backend=watched)
        executed = each.run("scheduling", Las(), skip=False)
        if watched.fault:
            yield Fault("time", watched.fault, "return `time_s`, or the time that it is then")
            return
        if executed.starved:
            what = (
                f"{len(executed.starved)} jobs do not finish, job {executed.starved[0]} "
                f"(scenario: {case.name})"
            )
            yield Fault("finishes", what, "name a job in completed() once its work is done")
            return
        again = each.run("scheduling", Las(), skip=False)
        if words := difference(executed, again, "the first time", "the second time"):
            fix = "keep nothing between runs; no clock, no unseeded numbers"
            yield Fault("repeatable", f"{words} (scenario: {case.name})", fix)
            return
        passed_over = each.run("scheduling", Las(), skip=True)
        if words := difference(executed, passed_over, "with every round executed", "with rounds passed over"):
            fix = (
                "return the time of the next change from _next_own_event(), and let the change take effect "
                "at that time, not when it is noticed"
            )
            yield Fault("skips", f"{words} (scenario: {case.name})", fix, watched.where)
            return


def failures(part: Any) -> Iterator[Fault]:
    """Draws the first node events of a cluster twice, and asks when each happens what is known then."""
    cluster = cluster_from_spec(NODES)
    drawn = [list(islice(part.node_events(cluster, 0), EVENTS)) for _ in range(2)]
    if found := _first_wrong(drawn[0], cluster):
        number, wrong = found
        yield Fault(wrong.rule, f"event {number} is {wrong.what} (cluster: {NODES})", wrong.fix)
    elif drawn[0] != drawn[1]:
        yield Fault("repeatable", "two draws with one seed differ", "draw from `seed` alone")
    elif known := declared(part, "known_events"):
        for now in sorted({event.time_s for event in drawn[0]})[:TIMES]:
            if fault := _wrongly_known(list(islice(known(cluster, 0, now), EVENTS)), drawn[0], now):
                yield fault
                return


def _first_wrong(events: list[NodeEvent], cluster: ClusterSpec) -> tuple[int, WrongEvent] | None:
    """The number of the first event that cannot happen, and why it cannot."""
    last_s = 0.0
    for number, event in enumerate(events, 1):
        if (wrong := wrong_event(event, last_s, cluster)) is not None:
            return number, wrong
        last_s = event.time_s
    return None


def _wrongly_known(known: list[NodeEvent], drawn: list[NodeEvent], now: float) -> Fault | None:
    """What is wrong with the events that are known at `now` (s), as far as it has happened by then."""
    if found := _first_wrong(known, cluster_from_spec(NODES)):
        return Fault("known", f"known_events() at {now:g} s gives {found[1].what}", found[1].fix)
    told, happened = ([event for event in events if event.time_s <= now] for events in (known, drawn))
    if told == happened:
        return None
    fix = "give the events of node_events() up to `now`, then those that are known by then"
    return Fault("known", f"known_events() at {now:g} s does not tell what has happened by then", fix)


def why_untried(part: Any) -> str:
    """Why a backend is not run by the check; nothing where it is."""
    real_time = declared(part, "speedup") is not None
    return "not tried: it runs in real time, and starts processes" if real_time else ""


class _WatchedRates:
    """A performance model whose rates are looked at; ones that cannot be are noted, and 1 stands in."""

    def __init__(self, part: Any) -> None:
        self.part, self.fault = part, ""

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> Array | float:
        found = self.part.rate(grants, cluster_state, job_state)
        self.fault = self.fault or fault_in(found, len(grants.jobs))
        good: Array | float = found if not self.fault else 1.0
        return good


class _WatchedReports:
    """A source of reports whose answers are looked at; after the first fault jobs report nothing more."""

    def __init__(self, part: Any) -> None:
        self.part, self.names = part, tuple(declared(part, "reports"))
        self.fault: Fault | None = None

    def epochs_of(self, rows: Array, job_state: JobState) -> Array:
        epochs = np.asarray(self.part.epochs_of(rows, job_state))
        if epochs.shape != (len(rows),):
            what = f"epochs_of() gave {epochs.shape} numbers for {len(rows)} jobs"
        elif not (np.isfinite(epochs) & (epochs >= 0) & (epochs == np.floor(epochs))).all():
            what = f"a job has {epochs.min():g} epochs"
        else:
            return epochs if self.fault is None else np.zeros(len(rows))
        self.fault = self.fault or Fault("epochs", what, "return one whole number per row; 0: no reports")
        return np.zeros(len(rows))

    def report(self, rows: Array, epoch: Array, job_state: JobState) -> Mapping[str, Array]:
        found = self.part.report(rows, epoch, job_state)
        back = slice(None, None, -1)
        again = self.part.report(rows[back], epoch[back], job_state)
        self.fault = self.fault or self._wrong(found, again, len(rows))
        return found if self.fault is None else {name: np.ones(len(rows)) for name in self.names}

    def _wrong(self, found: Mapping[str, Array], again: Mapping[str, Array], count: int) -> Fault | None:
        if missing := [name for name in (*self.names, *found) if name not in found or name not in self.names]:
            fix = 'name what report() returns in the class: reports = ("loss",)'
            return Fault("names", f"report() and `reports` do not agree on {missing[0]!r}", fix)
        for name in found:
            values = np.asarray(found[name], dtype=np.float64)
            if values.shape != (count,):
                what = f"{name!r}: {values.shape} numbers for {count} jobs"
                return Fault("names", what, "return one number per row")
            if not np.array_equal(values[::-1], np.asarray(again[name], dtype=np.float64), equal_nan=True):
                fix = "let reports follow from the row, the epoch, the fields and job_state.seed alone"
                return Fault("repeatable", f"{name!r} differs when asked for again, in another order", fix)
        return None


def _check_methods(cls: type) -> None:
    """Raises Broken for a method of a user's backend that is misspelt or cannot be called as it will be."""
    asked = {
        name: member
        for base in Backend.__mro__
        for name, member in vars(base).items()
        if not name.startswith("_")
    }
    hooks = {name for base in BackendBase.__mro__ for name in vars(base) if not name.startswith("_")}
    for name, meant in misspelt_methods(cls, {*asked, *hooks}).items():
        raise Broken(
            f"nothing calls {name!r}: did you mean {meant!r}?",
            where=line_of(cls),
            fix=f"write {meant}; or _{name}, if it is its own",
            rule="methods",
        )
    for name in own_names(cls) & {*asked}:
        method, protocol = getattr(cls, name), asked[name]
        if callable(method) and callable(protocol):
            arguments = list(inspect.signature(protocol).parameters)
            if trouble := cannot_be_called(method, *arguments):
                raise Broken(
                    f"{name}() cannot be called: {trouble}",
                    where=line_of_verb(object.__new__(cls), name),
                    fix=f"write def {name}({', '.join(arguments)})",
                    rule="methods",
                )


class _WatchedOpen:
    """A backend part whose backend's methods and clock are looked at."""

    def __init__(self, part: Any) -> None:
        self.part, self.fault, self.where = part, "", ""

    def open(self, setup: Any) -> Any:
        opened = self.part.open(setup)
        _check_methods(type(opened))
        self.where = line_of(type(opened))
        if "wait_until" not in dir(opened):
            return opened  # open_backend() tells what is missing
        wait = opened.wait_until

        def wait_until(time_s: float) -> float:
            now = wait(time_s)
            if not now >= time_s:
                self.fault = self.fault or f"wait_until({time_s:g}) returned {now!r}"
            return float(max(now, time_s)) if isinstance(now, int | float) else time_s

        opened.wait_until = wait_until
        return opened


def _two_runs_differ(case: Scenario) -> str:
    """What differs between two runs of a case; nothing where they are equal."""
    one, other = (case.run("scheduling", Las(), skip=False) for _ in range(2))
    if one.jobs["finish_s"].tobytes() == other.jobs["finish_s"].tobytes():
        return ""
    return f"finish times differ between two runs (scenario: {case.name})"


def _differ(one: dict[str, Array], other: dict[str, Array]) -> bool:
    return any(one[name].tolist() != other[name].tolist() for name in ("submit_s", "gpus", "duration_s"))
