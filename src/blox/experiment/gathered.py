"""What a run leaves behind, gathered from its states and its recorder: columns of jobs, figures, tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from blox.checks.own_names import measured_columns, refuse_measured
from blox.experiment.kept_settings import kept_settings
from blox.manager import BloxManager
from blox.optional import declared
from blox.results import failures, metrics
from blox.results.accounting import account
from blox.results.lazy_table import LazyTable
from blox.results.link_bandwidth import link_figures, link_gbps
from blox.results.outcomes import outcome_columns
from blox.results.own_metrics import with_metrics
from blox.results.plausible import check_times
from blox.results.result import Result, label_of
from blox.results.saved_work import saved_figures, saved_s
from blox.results.tenants import several_tenants, tenants_over_time
from blox.state.jobs import JobState
from blox.termination.completed import Completed
from blox.workloads.extra import TAKEN, extra_columns
from blox.workloads.table import Array

if TYPE_CHECKING:
    from blox.experiment.prepared import Prepared


def gathered(prepared: Prepared, manager: BloxManager, job_state: JobState, timing: dict[str, Any]) -> Result:
    """The result of a run that has ended."""
    options, cluster, recorder = prepared.composition.options, prepared.cluster, manager.recorder
    end_s = _end_s(manager, job_state)
    recorder.close(end_s)
    jobs = _job_columns(prepared, manager, job_state, end_s)
    check_times(jobs)
    rounds = recorder.rounds()
    stints = LazyTable(partial(recorder.stints, end_s))
    tables: dict[str, dict[str, Array]] = {}
    if (log := recorder.failures) is not None:
        spent = failures.gpu_time(log, stints, prepared.composition.overheads)
        jobs.update(failures.job_columns(log, spent, job_state.submitted))
        tables = failures.tables(log, spent, jobs, cluster, end_s=end_s)
    if cluster.links:
        jobs["link_gbps"] = link_gbps(stints, cluster, job_state.submitted)
    if weighed := declared(prepared.composition.scheduler, "choices"):
        tables["choices"] = weighed(job_state)
    if several_tenants(jobs["tenant"]):
        over_time = partial(tenants_over_time, end_s=end_s, total_gpus=cluster.total_gpus)
        tables["tenants"] = LazyTable(partial(over_time, jobs, stints))
    if spent := declared(prepared.composition.scheduler, "timings"):
        timing = {**timing, **spent(job_state)}
    accounts = _accounts(prepared, jobs, stints, tables, end_s, shared=recorder.shared)
    summary = metrics.summarise(
        jobs,
        rounds,
        recorder,
        end_s=end_s,
        total_gpus=cluster.total_gpus,
        round_s=prepared.experiment.round_s,
        moves_are_preemptions=options.moves_are_preemptions,
    )
    if _ends_early(prepared):
        summary.update(saved_figures(jobs))
    if cluster.links:
        summary.update(link_figures(jobs))
    if log is not None:
        summary.update(failures.summarise(log, jobs, cluster, end_s=end_s))
    resizable = _resizable(prepared, job_state)
    summary.update(_policy_figures(prepared, job_state, {*summary, *accounts, *resizable}))
    summary.update(accounts)
    summary.update(resizable)
    table = kept_settings(prepared, job_state, prepared.digest.hexdigest())
    reasons = recorder.told.table(end_s)
    found = Result(label_of(table), table, summary, jobs, rounds, stints, timing, tables, reasons)
    return with_metrics(found, prepared.metrics)


def _ends_early(prepared: Prepared) -> bool:
    """Whether a policy may end jobs before their work is done."""
    return type(prepared.composition.termination) is not Completed


def _end_s(manager: BloxManager, job_state: JobState) -> float:
    """When the run ended: at the last finish if every job has finished, otherwise at the last round."""
    left = job_state.active_count or len(job_state.waiting)
    if left or not job_state.submitted or manager.truncated:
        return float(manager.now)
    return float(np.nanmax(job_state.columns.finish_s[: job_state.submitted]))


def _job_columns(
    prepared: Prepared, manager: BloxManager, job_state: JobState, end_s: float
) -> dict[str, Array]:
    """The columns of jobs: as measured, as submitted, as the policy counted, and the workload's own."""
    options = prepared.composition.options
    assert prepared.feed is not None
    jobs = metrics.job_columns(
        job_state,
        end_s=end_s,
        window=prepared.window,
        responsiveness_lag_s=prepared.experiment.round_s if options.responsiveness_late else 0.0,
        truncated=manager.truncated,
        moves_are_preemptions=options.moves_are_preemptions,
        total_gpus=prepared.cluster.total_gpus,
        apps=prepared.apps,
        duration_s=prepared.feed.duration_s,
    )
    reasons = manager.recorder.end_reasons
    jobs.update(outcome_columns(job_state, jobs, prepared.feed.duration_s, reasons, end_s=end_s))
    if _ends_early(prepared):
        jobs["saved_s"] = saved_s(job_state, prepared.feed.duration_s, reasons)
    for name in ("loss_threshold", "loss_target"):
        given = getattr(job_state.columns, name)[: job_state.submitted]
        if not np.isnan(given).all():  # of a workload that has them
            jobs[name] = given
    if tell := declared(prepared.composition.scheduler, "job_columns"):
        told = tell(job_state)
        measured = measured_columns(job_state) - {*prepared.composition.replaces}
        refuse_measured(prepared.composition.scheduler, "job_columns", told, measured, job_state)
        jobs.update({name: _as_read_back(name, column) for name, column in told.items()})
    jobs.update({name: own[: job_state.submitted] for name, own in job_state.columns.extra.items()})
    return jobs


def _as_read_back(name: str, column: Array) -> Array:
    """A column that a policy tells, of the type that it has when results are loaded again."""
    if name in TAKEN:
        return column.astype(TAKEN[name], copy=False)
    return column if column.dtype.kind == "O" else extra_columns({name: column})[name]


def _policy_figures(prepared: Prepared, job_state: JobState, measured: set[str]) -> dict[str, Any]:
    """What policies tell of their own work; a name that is `measured` is refused.

    Costs are told by a policy that knows prices (`gavel`), until the experiment has prices of its own.
    """
    composition, found = prepared.composition, dict[str, Any]()
    measured = measured - {*composition.replaces, "cost_dollars"}
    for part in (composition.scheduler, composition.placement):
        for each in (*declared(part, "chooses_among"), part):
            if reported := declared(each, "figures"):
                told = reported(job_state)
                refuse_measured(each, "figures", told, measured, job_state)
                if each is part:
                    found.update(told)
    return found


def _accounts(
    prepared: Prepared,
    jobs: dict[str, Array],
    stints: LazyTable,
    tables: Mapping[str, Mapping[str, Array]],
    end_s: float,
    *,
    shared: bool,
) -> dict[str, Any]:
    """What the run costs and the energy it takes, where these are asked for; `jobs` get their columns."""
    if not prepared.tariff:
        return {}
    columns, figures = account(
        prepared.tariff,
        stints,
        prepared.cluster,
        jobs=len(jobs["submit_s"]),
        begin_s=float(jobs["submit_s"].min(initial=end_s)),
        end_s=end_s,
        shared=shared,
        outages=tables.get("outages"),
    )
    jobs.update(columns)
    return figures


def _resizable(prepared: Prepared, job_state: JobState) -> dict[str, int]:
    """How many jobs can be resized, where the scheduler resizes jobs and is made for such alone."""
    if not prepared.resizes or prepared.experiment.compat:
        return {}
    columns, count = job_state.columns, job_state.submitted
    resizable = int((columns.min_gpus < columns.max_gpus)[:count].sum())
    if resizable or not declared(prepared.composition.scheduler, "rigid_too"):
        return {"resizable_jobs": resizable}
    return {}
