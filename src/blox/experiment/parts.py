"""What the settings of an experiment name, built and checked: policies, models, clock and cluster."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from blox import registry
from blox.backends.setup import BackendPart
from blox.clock import Clock, Events, Rounds
from blox.composition import Composition
from blox.errors import BloxError, shortened, suggestion
from blox.experiment.chosen import synthesizer
from blox.job_reports.reporting import EPOCH, JobReports
from blox.lookahead.auto import Auto
from blox.optional import declared, of_kind
from blox.performance.overheads import overheads_from_spec
from blox.state.cluster_spec import DEFAULT_TYPE, ClusterSpec, cluster_from_spec
from blox.state.windows import Window
from blox.workloads.drawn import drawn
from blox.workloads.spec import workload_rng
from blox.workloads.table import COLUMNS, Workload

if TYPE_CHECKING:
    from blox.experiment.settings import Experiment

DECIDED_BY_PRESET = ("admission", "scheduler", "placement", "termination", "performance", "overheads")
LARGEST_COUNT = 10**15  # of jobs, rounds and seeds: what every table and file can hold
MOST_SEEDS = 1_000  # of one experiment: more make no interval visibly narrower
_CHOSEN = (  # kinds of policies among which `auto` chooses: kind, setting, verb
    ("admission", "admission", "accept"),
    ("scheduling", "scheduler", "schedule"),
    ("placement", "placement", "place"),
)
_VERBS = {**{kind: verb for kind, _, verb in _CHOSEN}, "termination": "terminate"}
SIMULATED = (
    "compat",
    "overheads",
    "performance",
    "failures",
)  # settings that a backend in real time does not take


def compose(experiment: Experiment, workload: Workload, backend: BackendPart) -> Composition:
    """The parts of a run, or those of its preset."""
    if experiment.compat:
        preset = registry.build("compat", experiment.compat)
        if experiment.clock != "rounds":
            raise BloxError(
                f"clock={experiment.clock!r} together with compat={experiment.compat!r}",
                where="clock",
                fix="leave it out: the preset has its own time (whole rounds, or whole seconds)",
            )
        if _differs(experiment, "failures"):
            raise BloxError(
                f"failures={experiment.failures!r} together with compat={experiment.compat!r}",
                where="failures",
                fix="leave one of them out: a preset behaves like a simulator in which nothing fails",
            )
        for name in (*DECIDED_BY_PRESET, "auto"):
            if _differs(experiment, name):
                raise BloxError(
                    f"{name}={getattr(experiment, name)!r} together with compat={experiment.compat!r}",
                    where=name,
                    fix="leave it out: the preset decides it (`blox compat` shows its options)",
                )
        composition: Composition = preset.compose(experiment.round_s)
        return composition
    admissions, schedulers, placements = (_parts(experiment, *kind) for kind in _CHOSEN)
    performance = _performance(experiment, backend, workload, *placements.values(), *schedulers.values())
    parts = Composition(
        admission=next(iter(admissions.values())),
        scheduler=next(iter(schedulers.values())),
        placement=next(iter(placements.values())),
        termination=_part("termination", experiment.termination, "terminate", experiment.policy_timeout_s),
        performance=_part("performance", performance, "rate"),
        overheads=overheads_from_spec(experiment.overheads),
    )
    policies = (*admissions.values(), *schedulers.values(), *placements.values(), parts.termination)
    parts = dataclasses.replace(parts, reports=_reports(experiment, backend, parts.performance, policies))
    if not experiment.auto:
        return parts
    clock = clock_of(experiment, max(schedulers.values(), key=_patience_s))
    chooser = synthesizer(experiment, parts, clock, admissions, schedulers, placements)
    return dataclasses.replace(parts, admission=chooser, scheduler=chooser, placement=chooser, clock=clock)


def _parts(experiment: Experiment, kind: str, setting: str, verb: str) -> dict[str, Any]:
    """The policies of a kind by name: those that `auto` lists, or else the one that the experiment names."""
    given = getattr(experiment, setting)
    listed = getattr(Auto.of(experiment.auto), setting) if experiment.auto else ()
    if listed and _differs(experiment, setting):
        raise BloxError(
            f"{setting}={given!r} together with a list of them in auto",
            where=setting,
            fix="leave it out, or put it first in the list: the first one rules until the first choice; "
            f"to run it beside the synthesizer: blox compare --{setting} {given} --auto ...",
        )
    timeout_s = experiment.policy_timeout_s
    return {str(spec): _part(kind, spec, verb, timeout_s) for spec in listed or (given,)}


def _performance(
    experiment: Experiment, backend: BackendPart, workload: Workload, *policies: object
) -> str | Any:
    """The performance model that the experiment names; for `auto`, that of the first part that asks.

    The workload comes first, so that all schedulers are compared by the same speeds. Where no part asks, or
    one asks for speeds by GPU type, being spread costs as well if the workload names models (`spread`). If it
    does not, speeds go by GPU type where the cluster names any, and otherwise by durations.
    """
    if experiment.performance != "auto":
        return experiment.performance
    if real_speedup(backend) is not None:
        return "duration"
    asked = (declared(part, "default_performance") for part in (workload, *policies))
    name, colon, options = next(filter(None, asked), "").partition(":")
    if name not in ("", "throughputs"):
        return f"{name}{colon}{options}"
    if names_models(workload, experiment.seed):
        return f"spread{colon}{options}"
    spec = cluster_from_spec(experiment.cluster)
    typed = spec.gpu_types != (DEFAULT_TYPE,) or bool(spec.speeds)
    return f"throughputs{colon}{options}" if name or typed else "duration"


def _reports(
    experiment: Experiment, backend: BackendPart, performance: object, policies: Sequence[object]
) -> JobReports | None:
    """What jobs report about themselves; for `auto`, losses where a policy reads them that no model reports.

    Raises BloxError for metrics that a policy reads and nothing reports.
    """
    read = dict.fromkeys(name for part in policies for name in declared(part, "reads_metrics"))
    lacking = [name for name in read if name not in declared(performance, "reports")]
    spec = experiment.reports
    if spec == "auto":
        spec = "loss" if {"loss", EPOCH} & {*lacking} else "none"
    source = None if spec == "none" else _part("reports", spec, "report")
    told = () if source is None else (*declared(source, "reports"), EPOCH)
    missing = [name for name in lacking if name not in told]
    if missing:
        raise BloxError(
            f"a policy reads the metric {missing[0]!r}, and no job reports it",
            where=f"reports {experiment.reports!r}",
            fix="--reports loss reports losses, --reports ./mine.py:Class what you like",
        )
    found: JobReports | None = source
    return found


def names_models(workload: Workload, seed: int) -> bool:
    """Whether the jobs of a workload say which model they train; of a generator, those of its first batch."""
    first = next(iter(drawn(workload, workload_rng(seed))), None)
    return first is not None and any(first.column("model").tolist())


def cluster_of(experiment: Experiment, parts: Composition) -> str:
    """The cluster that the experiment names, or else its preset's own."""
    if not _differs(experiment, "cluster"):
        return parts.cluster or parts.default_cluster or experiment.cluster
    if parts.cluster and parts.cluster != experiment.cluster:
        raise BloxError(
            f"cluster={experiment.cluster!r} together with compat={experiment.compat!r}",
            where="cluster",
            fix=f"name it once: the preset's options say {parts.cluster}",
        )
    return experiment.cluster


def backend_of(experiment: Experiment) -> BackendPart:
    """The backend that the experiment names."""
    backend: BackendPart = _part("backend", experiment.backend, "open")
    return backend


def real_speedup(backend: BackendPart) -> float | None:
    """Simulated seconds per real second on a backend that runs in real time; None on one that computes."""
    found: float | None = declared(backend, "speedup")
    return found


def policy_from_spec(kind: str, spec: str | Any) -> Any:
    """A policy by its spec, watched if it is from outside the package."""
    return _part(kind, spec, _VERBS[kind])


def _part(kind: str, spec: str | Any, verb: str, timeout_s: float = math.inf) -> Any:
    part = registry.build(kind, spec) if isinstance(spec, str) else spec
    if not callable(getattr(part, verb, None)):
        raise BloxError(
            f"{type(part).__name__} has no method {verb}()",
            where=f"{kind} {spec!r}",
            fix=f"give it {verb}(); see docs/writing-a-policy.md",
        )
    return _guarded(kind, part, timeout_s)


def _guarded(kind: str, part: Any, timeout_s: float) -> Any:
    """A policy from outside the package, or around one, is watched: its mistakes are told in words."""
    inmost = part
    while type(inmost).__module__.startswith("blox.") and (inner := declared(inmost, "wraps")) is not None:
        inmost = inner
    if kind in ("performance", "backend", "reports") or type(inmost).__module__.startswith("blox."):
        return part
    from blox.checks import guard

    for name in of_kind(kind):
        declared(part, name)  # one of another form is told now, not when a run ends
    return guard(kind, part, timeout_s)


def clock_of(experiment: Experiment, scheduler: object = None) -> Clock:
    """The clock that the experiment names; `quantum_s`, if not given, is the scheduler's `wakes_every_s`."""
    name, _, options = experiment.clock.partition(":")
    if name == "rounds" and not options:
        return Rounds(experiment.round_s)
    if name == "events":
        where = f"clock {experiment.clock!r}"
        given = registry.parse_options(options, where=where)
        if not given and (own := declared(scheduler, "wakes_every_s")) is not None:
            return Events(float(own))
        clock: Clock = registry.instantiate(Events, given, where=where)
        return clock
    raise BloxError(
        f"no clock is called {experiment.clock!r}", where="clock", fix=suggestion(name, ("rounds", "events"))
    )


def _patience_s(scheduler: object) -> float:
    """How long the events clock may let a scheduler wait; inf where it does not say: the clock's default.

    Of several that may rule, the most patient counts: one whose jobs pass each other all the time would be
    asked for ever by the clock of one whose answer changes at few, exact times.
    """
    asked: float | None = declared(scheduler, "wakes_every_s")
    return math.inf if asked is None else asked


def apps_of(experiment: Experiment, scheduler: object) -> str:
    """The column whose values make jobs one app in the figures; `job`: every job is one.

    As the experiment names it, or else (`auto`) by the scheduler's own word.
    """
    named = experiment.apps != "auto"
    name: str = experiment.apps if named else declared(scheduler, "app_column")
    valid = ["job", *(column.name for column in COLUMNS.values() if column.is_text)]
    if name not in valid:
        what, where = ("apps", "apps") if named else ("app_column", f"scheduler {experiment.scheduler!r}")
        raise BloxError(f"{what} is {name!r}", where=where, fix=suggestion(name, valid))
    return name


def check_numbers(experiment: Experiment, backend: BackendPart) -> None:
    """Refuses settings that no run can have, alone or together."""
    if real_speedup(backend) is not None:
        for name in SIMULATED:
            if _differs(experiment, name):
                raise BloxError(
                    f"{name}={getattr(experiment, name)!r} with the backend {experiment.backend}",
                    where=name,
                    fix="leave it out: in real time, jobs take the time that they take",
                )
    for name in ("jobs", "max_rounds"):
        value = getattr(experiment, name)
        if value is not None and not 1 <= value <= LARGEST_COUNT:
            fix = f"{name} must be 1 or more, and at most {LARGEST_COUNT:,}"
            raise BloxError(f"{name} is {value}", where=name, fix=fix)
    if not 0 <= experiment.seed <= LARGEST_COUNT:
        fix = f"a seed is a whole number, 0 or more, and at most {LARGEST_COUNT:,}"
        raise BloxError(f"seed is {experiment.seed}", where="seed", fix=fix)


def check_seed_count(count: Any, *, where: str) -> None:
    """Refuses a number of seeds that is none, or that no comparison needs."""
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_SEEDS:
        what = shortened(f"seeds is {count!r}", 80)
        raise BloxError(what, where=where, fix=f"say how many, at most {MOST_SEEDS:,}: seeds = 5")


def check_timeout(seconds: float, *, where: str) -> None:
    """Refuses a time limit that no decision could keep."""
    if not seconds > 0:
        raise BloxError(
            f"a time limit of {seconds:g} s", where=where, fix="give seconds above 0; inf: no limit"
        )


def _differs(experiment: Experiment, name: str) -> bool:
    """Whether a setting is not its default."""
    fields = {field.name: field for field in dataclasses.fields(experiment)}
    return bool(getattr(experiment, name) != fields[name].default)


def windows_of(failures: Iterable[object], cluster: ClusterSpec) -> tuple[Window, ...]:
    """The times in which nodes are kept for some jobs, or for none."""
    found: list[Window] = []
    for source in failures:
        if windows := declared(source, "windows"):
            found += windows(cluster)
    return tuple(found)


def check_reservable(parts: Composition) -> None:
    """Refuses reservations where nothing would keep to them."""
    if declared(parts.placement, "node_rule") is None or declared(parts.scheduler, "resizes"):
        raise BloxError(
            f"reservations together with {registry.spec_of(parts.scheduler)} and "
            f"{registry.spec_of(parts.placement)}, which do not plan around them",
            where="reservation",
            fix="use a placement that picks nodes by a rule: first-free, consolidated, fragments, yarn",
        )
