"""Experiment: everything that a run depends on, as a dataclass, a TOML file or command-line options.

The three give the same bytes. `prepare()` builds and checks every part before anything runs; `run()`
returns a Result.
"""

from __future__ import annotations

import dataclasses
import gc
import hashlib
import math
import re
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from blox import metrics, registry
from blox.backends.feed import JobFeed, check_fits
from blox.backends.simulation import Simulation
from blox.beliefs import belief_from_spec
from blox.clock import Clock, Events, Rounds
from blox.cluster_spec import ClusterSpec, cluster_from_spec
from blox.cluster_state import ClusterState
from blox.composition import Composition
from blox.errors import BloxError, suggestion
from blox.job_state import JobState
from blox.loop import run as run_loop
from blox.manager import BloxManager
from blox.performance.overheads import overheads_from_spec
from blox.protocols import Backend
from blox.provenance import provenance
from blox.recorder import Recorder
from blox.results import LazyTable, Result, label_of
from blox.workloads.spec import workload_from_spec, workload_rng
from blox.workloads.table import JobTable, Workload

DEFAULT_JOBS = 1000  # of an endless generator, when no window says otherwise
DECIDED_BY_PRESET = ("admission", "scheduler", "placement", "termination", "performance", "overheads")
PATIENCE = 50  # a window that has not finished when so many times its jobs have come never will
BACKENDS = ("simulation", "process")
Progress = Callable[[int, int], None]  # (jobs done, jobs to do)


@dataclass(frozen=True)
class Experiment:
    """What to run, on what, how. Specs are strings; see `blox policies` and docs/semantics.md.

    `window`: "FIRST-LAST", positions in order of submission from 0, both included: JCT and responsiveness
    are over these jobs while others keep arriving. `jobs`: submit no more than so many. `compat`: a preset
    that decides admission, scheduling, placement and how time is credited.
    """

    workload: str = "philly"
    cluster: str = "32x4"
    admission: str = "accept-all"
    scheduler: str = "fifo"
    placement: str = "first-free"
    termination: str = "completed"
    performance: str = "auto"
    overheads: str = "none"
    belief: str = "oracle"
    round_s: float = 300.0
    clock: str = "rounds"
    window: str = ""
    jobs: int | None = None
    seed: int = 0
    max_rounds: int | None = None
    compat: str = ""
    backend: str = "simulation"
    speedup: float = 60.0
    label: str = ""

    def __post_init__(self) -> None:
        """Settings of the wrong type are refused; whole numbers become seconds, policies their specs."""
        for field in dataclasses.fields(self):
            value = _typed(field.name, getattr(self, field.name), str(field.type), "Experiment")
            object.__setattr__(self, field.name, value)

    @classmethod
    def from_toml(cls, path: str | Path) -> Experiment:
        """An experiment from a TOML file; unknown or ill-typed settings are answered with the valid ones."""
        return cls.from_table(read_toml(Path(path)), where=str(path))

    @classmethod
    def from_table(cls, table: dict[str, Any], *, where: str) -> Experiment:
        fields = {field.name: field for field in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for key, value in table.items():
            if key == "provenance":
                continue
            name = {"round": "round_s"}.get(key, key)
            if name not in fields:
                fix = suggestion(key, fields)
                if isinstance(value, dict):
                    fix = f"settings stand at the top level, not under [{key}]"
                raise BloxError(f"no setting is called {key!r}", where=where, fix=fix)
            values[name] = _typed(name, value, str(fields[name].type), where)
        return cls(**values)

    def to_table(self) -> dict[str, Any]:
        """The settings as TOML keeps them, less those that a compat preset decides."""
        settings = {key: value for key, value in dataclasses.asdict(self).items() if value is not None}
        return {
            key: value for key, value in settings.items() if not (self.compat and key in DECIDED_BY_PRESET)
        }

    def prepare(self) -> Prepared:
        """Builds and checks every part. Raises BloxError before anything runs."""
        return Prepared(self)

    def run(self, progress: Progress | None = None, *, skip: bool = True) -> Result:
        """Runs it. `skip=False` executes every round, for checking that skipping changes nothing."""
        return self.prepare().run(progress, skip=skip)


class Prepared:
    """An experiment whose parts are built and whose inputs are known to fit together."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.window = parse_window(experiment.window)
        self.workload = workload_from_spec(experiment.workload)
        self.composition = _compose(experiment, self.workload)
        self.cluster: ClusterSpec = cluster_from_spec(_cluster(experiment, self.composition))
        self.clock = self.composition.clock or _clock(experiment)
        belief_from_spec(experiment.belief, 0)
        _check_numbers(experiment)
        self.most_jobs = self._most_jobs()
        self._digest = hashlib.sha256()  # of the jobs that a run has drawn
        if self.composition.options.unlimited_gpus:
            self.cluster = self._room_for_everybody()
        self._check_workload()

    def backend(self, job_batches: Iterator[JobTable] | None = None) -> Backend:
        """The backend, fed with the jobs of the workload, or with these."""
        experiment, parts = self.experiment, self.composition
        if job_batches is None:
            self._digest = hashlib.sha256()
            job_batches = _hashed(self.workload.batches(workload_rng(experiment.seed)), self._digest)
        if parts.options.whole_seconds:
            job_batches = map(_in_whole_seconds, job_batches)
        belief = belief_from_spec(
            experiment.belief, experiment.seed, by_iterations=parts.options.whole_round_credit
        )
        largest = sys.maxsize if parts.options.oversized_wait else self.cluster.total_gpus
        feed = JobFeed(job_batches, largest, belief, self.most_jobs)
        if experiment.backend == "process":
            from blox.backends.process import Processes

            return Processes(feed, speedup=experiment.speedup)
        # A performance model whose rates change while a job runs brings the simulation that does so.
        simulation: type[Simulation] = getattr(parts.performance, "simulation", Simulation)
        return simulation(feed, parts.performance, parts.overheads, parts.options, experiment.round_s)

    def states(self) -> tuple[ClusterState, JobState]:
        """An empty cluster and an empty table of jobs."""
        cluster_state = ClusterState(self.cluster)
        cluster_state.one_pool = bool(getattr(self.composition.placement, "ignores_nodes", False))
        return cluster_state, JobState(self.experiment.seed)

    def manager(self, backend: Backend) -> BloxManager:
        """The manager of a run on this backend, with the experiment's clock, window and end."""
        return self.composition.manager(
            backend,
            self.clock,
            termination=self.composition.termination,
            window=self.window,
            max_rounds=self.experiment.max_rounds,
            most_submitted=math.inf if self.window is None else PATIENCE * (self.window[1] + 1) + 10_000,
        )

    def run(self, progress: Progress | None = None, *, skip: bool = True) -> Result:
        """Runs the loop to its end and gathers the results."""
        backend = self.backend()
        cluster_state, job_state = self.states()
        manager = self.manager(backend)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            with _rare_collections():
                run_loop(
                    manager,
                    cluster_state,
                    job_state,
                    admission=self.composition.admission,
                    scheduler=self.composition.scheduler,
                    placement=self.composition.placement,
                    skip=skip,
                    on_round=_reporter(progress, self.window, self._expected_jobs()) if progress else None,
                )
        finally:
            backend.close()
        timing = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
        timing["jobs_per_s"] = job_state.submitted / max(timing["wall_s"], 1e-9)
        timing["rounds_executed"] = manager.rounds
        return self.result(manager, job_state, timing)

    def result(
        self, manager: BloxManager, job_state: JobState, timing: dict[str, Any] | None = None
    ) -> Result:
        """The figures of a run that has ended, whoever wrote its loop."""
        options = self.composition.options
        end_s = float(manager.now)
        if (
            not len(job_state.active)
            and not len(job_state.waiting)
            and job_state.submitted
            and not manager.truncated
        ):
            end_s = float(np.nanmax(job_state.columns.finish_s[: job_state.submitted]))
        recorder: Recorder = manager.recorder
        recorder.close(end_s)
        jobs = metrics.job_columns(
            job_state,
            end_s=end_s,
            window=self.window,
            responsiveness_lag_s=self.experiment.round_s if options.responsiveness_late else 0.0,
            truncated=manager.truncated,
            moves_are_preemptions=options.moves_are_preemptions,
            total_gpus=self.cluster.total_gpus,
            apps=getattr(self.composition.scheduler, "app_column", "group"),
        )
        told = getattr(self.composition.scheduler, "job_columns", None)
        if told is not None:  # what the policy has counted itself
            jobs.update(told(job_state))
        rounds = recorder.rounds()
        summary = metrics.summarise(jobs, rounds, recorder, end_s=end_s, total_gpus=self.cluster.total_gpus)
        for part in (self.composition.scheduler, self.composition.placement):
            reported = getattr(part, "figures", None)
            if reported is not None:  # what a policy says of its own work
                summary.update(reported(job_state))
        table = self.experiment.to_table()
        if self.composition.cluster or self.composition.default_cluster:
            table["cluster"] = self.cluster.text
        table["provenance"] = provenance(table, self.workload, self._digest.hexdigest())
        stints = LazyTable(partial(recorder.stints, end_s))
        return Result(label_of(table), table, summary, jobs, rounds, stints, timing or {})

    def _most_jobs(self) -> int | None:
        if self.experiment.jobs is not None or self.window is not None:
            return self.experiment.jobs
        endless = not hasattr(self.workload, "table") and getattr(self.workload, "jobs", None) is None
        return DEFAULT_JOBS if endless else None

    def _room_for_everybody(self) -> ClusterSpec:
        """One node with as many GPUs as all jobs of the trace ask for together."""
        table: JobTable | None = getattr(self.workload, "table", None)
        if table is None:
            raise BloxError(
                "a cluster that has room for every job cannot be made for a generator",
                where=f"workload {self.experiment.workload!r}",
                fix="give a trace, or write the generator's jobs to a file first (blox workload)",
            )
        return cluster_from_spec(f"1x{max(1, int(table.columns['gpus'].sum()))}")

    def _expected_jobs(self) -> int:
        """How many jobs a run without a window has; 0 if not known."""
        if self.most_jobs is not None:
            return self.most_jobs
        table = getattr(self.workload, "table", None)
        return len(table) if table is not None else int(getattr(self.workload, "jobs", None) or 0)

    def _check_workload(self) -> None:
        """Jobs that cannot fit, and a window that the trace does not reach, are refused now."""
        table: JobTable | None = getattr(self.workload, "table", None)
        known = len(table) if table is not None else getattr(self.workload, "jobs", None)
        most = min((n for n in (known, self.most_jobs) if n is not None), default=None)
        if table is not None:
            if not len(table):
                raise BloxError(
                    "the trace has no jobs", where=table.source, fix="give a trace with at least one job"
                )
            if not self.composition.options.oversized_wait:
                check_fits(table.take(slice(0, self.most_jobs)), self.cluster.total_gpus)
        largest = getattr(self.workload, "largest_gpus", None)
        if table is None and largest is not None and largest > self.cluster.total_gpus:
            raise BloxError(
                f"jobs ask for up to {largest} GPUs, and the cluster has {self.cluster.total_gpus}",
                where=f"workload {self.experiment.workload!r}",
                fix=f"use a larger cluster, or add max_gpus={self.cluster.total_gpus} to the workload",
            )
        if self.window is not None and most is not None and self.window[1] >= most:
            raise BloxError(
                f"the window ends with job {self.window[1]}, and the workload has {most}: 0 to {most - 1}",
                where=f"window {self.experiment.window!r}",
                fix="use an earlier window or a longer workload",
            )


def parse_window(text: str) -> tuple[int, int] | None:
    """`3000-4000` as a pair; None for an empty text."""
    if not text:
        return None
    match = re.fullmatch(r"\s*(\d+)\s*-\s*(\d+)\s*", text)
    if match is None or int(match[1]) > int(match[2]):
        raise BloxError(
            f"{text!r} is not a window",
            where="window",
            fix="write FIRST-LAST, e.g. 3000-4000 (both included, from 0)",
        )
    return int(match[1]), int(match[2])


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a table; what is wrong with it is told with its line."""
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise BloxError(
            "no such file", where=str(path), fix="give the path of an experiment in TOML"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BloxError(f"cannot be read: {error}", where=str(path), fix="give a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise BloxError(
            f"not TOML: {error}", where=str(path), fix='settings look like scheduler = "las"'
        ) from None


def _compose(experiment: Experiment, workload: Workload) -> Composition:
    if experiment.compat:
        preset = registry.build("compat", experiment.compat)
        default = Experiment()
        if experiment.clock != "rounds":
            raise BloxError(
                f"clock={experiment.clock!r} together with compat={experiment.compat!r}",
                where="clock",
                fix="leave it out: the preset has its own time (whole rounds, or whole seconds)",
            )
        for name in DECIDED_BY_PRESET:
            if getattr(experiment, name) != getattr(default, name):
                raise BloxError(
                    f"{name}={getattr(experiment, name)!r} together with compat={experiment.compat!r}",
                    where=name,
                    fix="leave it out: the preset decides it (`blox compat` shows its options)",
                )
        composition: Composition = preset.compose(experiment.round_s)
        return composition
    scheduler = _part("scheduling", experiment.scheduler, "schedule")
    placement = _part("placement", experiment.placement, "place")
    return Composition(
        admission=_part("admission", experiment.admission, "accept"),
        scheduler=scheduler,
        placement=placement,
        termination=_part("termination", experiment.termination, "terminate"),
        performance=_part("performance", _performance(experiment, placement, scheduler, workload), "rate"),
        overheads=overheads_from_spec(experiment.overheads),
    )


def _performance(experiment: Experiment, *parts: object) -> str:
    """The performance model that the experiment names; for `auto`, the one that a part asks for.

    Otherwise speeds go by GPU type where the cluster has several types, and by durations where it has one.
    """
    if experiment.performance != "auto":
        return experiment.performance
    if experiment.backend == "process":
        return "duration"
    for part in parts:
        if own := getattr(part, "default_performance", ""):
            return str(own)
    several = len(cluster_from_spec(experiment.cluster).gpu_types) > 1
    return "throughputs" if several else "duration"


def _cluster(experiment: Experiment, parts: Composition) -> str:
    """The cluster that the experiment names, or else its preset's own."""
    if experiment.cluster == Experiment().cluster:
        return parts.cluster or parts.default_cluster or experiment.cluster
    if parts.cluster and parts.cluster != experiment.cluster:
        raise BloxError(
            f"cluster={experiment.cluster!r} together with compat={experiment.compat!r}",
            where="cluster",
            fix=f"name it once: the preset's options say {parts.cluster}",
        )
    return experiment.cluster


def _part(kind: str, spec: str, verb: str) -> Any:
    part = registry.build(kind, spec)
    if not callable(getattr(part, verb, None)):
        raise BloxError(
            f"{type(part).__name__} has no method {verb}()",
            where=f"{kind} {spec!r}",
            fix=f"give it {verb}(); see docs/writing-a-policy.md",
        )
    return _guarded(kind, part)


def _guarded(kind: str, part: Any) -> Any:
    """A policy from outside the package is watched, so that its mistakes are told in words."""
    if kind == "performance" or type(part).__module__.startswith("blox."):
        return part
    from blox.checks import guard

    return guard(kind, part)


def _clock(experiment: Experiment) -> Clock:
    name, _, options = experiment.clock.partition(":")
    if name == "rounds" and not options:
        return Rounds(experiment.round_s)
    if name == "events":
        where = f"clock {experiment.clock!r}"
        clock: Clock = registry.instantiate(Events, registry.parse_options(options, where=where), where=where)
        return clock
    raise BloxError(
        f"no clock is called {experiment.clock!r}", where="clock", fix=suggestion(name, ("rounds", "events"))
    )


def _check_numbers(experiment: Experiment) -> None:
    if experiment.backend not in BACKENDS:
        raise BloxError(
            f"no backend is called {experiment.backend!r}",
            where="backend",
            fix=suggestion(experiment.backend, BACKENDS),
        )
    if experiment.backend == "process":
        default = Experiment()
        for name in ("compat", "overheads", "performance"):
            if getattr(experiment, name) != getattr(default, name):
                raise BloxError(
                    f"{name}={getattr(experiment, name)!r} with the process backend",
                    where=name,
                    fix="leave it out: real processes take the time that they take",
                )
    if not 0 < experiment.speedup < math.inf:
        raise BloxError(f"speedup is {experiment.speedup!r}", where="speedup", fix="give a number above 0")
    for name in ("jobs", "max_rounds"):
        value = getattr(experiment, name)
        if value is not None and value < 1:
            raise BloxError(f"{name} is {value}", where=name, fix=f"{name} must be 1 or more")
    if experiment.seed < 0:
        raise BloxError(f"seed is {experiment.seed}", where="seed", fix="a seed is a whole number, 0 or more")


def _typed(name: str, value: Any, wanted: str, where: str) -> Any:
    """The value as the setting keeps it. A policy object stands for its spec."""
    if value is None and "None" in wanted:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if wanted.startswith("float") and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if wanted == "str" and dataclasses.is_dataclass(value) and hasattr(type(value), "blox_kind"):
        return registry.spec_of(value)
    if wanted == "str" and isinstance(value, Path):
        return str(value)
    kinds = {"str": (str, "a text in quotes"), "float": (float, "a number"), "int": (int, "a whole number")}
    kind, words = kinds[wanted.partition(" ")[0]]
    if not isinstance(value, kind) or isinstance(value, bool):
        if name == "window":
            words = 'written as "FIRST-LAST", e.g. "3000-4000"'
        elif isinstance(value, (list, tuple)):
            words += "; several are for blox compare and blox sweep"
        elif isinstance(value, dict):
            words += "; settings stand at the top level, not in a table"
        raise BloxError(f"{name} is {value!r}", where=where, fix=f"{name} must be {words}")
    return value


def _in_whole_seconds(jobs: JobTable) -> JobTable:
    """The same jobs, their times cut down to whole seconds."""
    whole = {name: np.floor(jobs.columns[name]) for name in ("submit_s", "duration_s")}
    return dataclasses.replace(jobs, columns={**jobs.columns, **whole})


def _hashed(batches: Iterator[JobTable], digest: Any) -> Iterator[JobTable]:
    """Passes batches on and takes their fingerprint, so that a result says which jobs it is about."""
    for jobs in batches:
        for name in ("submit_s", "gpus", "duration_s"):
            digest.update(jobs.columns[name].tobytes())
        yield jobs


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Python looks for cycles of objects rarely while a run makes many small ones, and hardly a cycle."""
    usual = gc.get_threshold()
    gc.set_threshold(50_000, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _reporter(
    progress: Progress, window: tuple[int, int] | None, expected: int
) -> Callable[[BloxManager, JobState], None]:
    """Calls `progress` a few times per second, not every round."""
    last_call = 0.0

    def report(manager: BloxManager, job_state: JobState) -> None:
        nonlocal last_call
        moment = time.monotonic()
        if moment - last_call < 0.2 and not manager.terminate:
            return
        last_call = moment
        first, last = window or (0, max(expected, job_state.submitted) - 1)
        finish = job_state.columns.finish_s[first : min(last + 1, job_state.submitted)]
        progress(int((finish == finish).sum()), last - first + 1)

    return report
