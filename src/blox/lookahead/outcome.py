"""What a look ahead gives: a Result over the jobs that were present, with the figures of a summary.

Figures of jobs are over their whole lives: JCT and responsiveness count from submission, interruptions from
the first start. Makespan, causes of waiting, cost and energy count from the beginning of the look ahead;
utilisation, fragmentation and the length of the queue over the time in which jobs come, or over all of it if
none do and in the figures of the whole run. Figures of apps are over those of their jobs that were present
or came. A job that has not finished when it ends counts as if it ran by itself from there on, as long as it
has work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from blox.lookahead.ahead import Ahead
from blox.results import metrics
from blox.results.accounting import Tariff, account
from blox.results.arrivals import WHOLE_RUN, Span, occupancy
from blox.results.failures import outage_table
from blox.results.lazy_table import LazyTable
from blox.results.link_bandwidth import link_figures, link_gbps
from blox.results.outcomes import outcome_columns
from blox.results.result import Result
from blox.results.saved_work import saved_figures, saved_s
from blox.state import progress
from blox.state.columns import FINISHED
from blox.workloads.table import Array


@dataclass(frozen=True)
class Measured:
    """The settings of an experiment that say what is measured: the column of apps, prices, power."""

    apps: str = "job"
    prices: str = ""
    power: str = ""


def outcome(
    ahead: Ahead,
    *,
    round_s: float,
    label: str = "ahead",
    jobs_alone: bool = False,
    measured: Measured = Measured(),
) -> Result:
    """The result of a look ahead; `jobs_alone`: its summary has figures of jobs and no others, and it has no
    tables of rounds and stints, which a look ahead for jobs alone does not record."""
    if ahead.truncated:
        _finish_alone(ahead)
    end_s, recorder = ahead.end_s, ahead.manager.recorder
    recorder.close(end_s)
    jobs = _jobs(ahead, measured.apps)
    if jobs_alone:
        summary = metrics.job_figures(jobs, np.arange(len(ahead.rows)), end_s=end_s)
        return Result(label, {}, summary, jobs, {}, {})
    stints = LazyTable(partial(recorder.stints, end_s))
    rounds, gpus = recorder.rounds(), ahead.cluster_state.spec.total_gpus
    summary = metrics.summarise(jobs, rounds, recorder, end_s=end_s, total_gpus=gpus, round_s=round_s)
    last_s = float(jobs["submit_s"].max(initial=ahead.begin_s))
    span = Span(ahead.begin_s, last_s if last_s - ahead.begin_s >= round_s else end_s)
    summary.update(occupancy(span, rounds, recorder, gpus))
    whole = occupancy(Span(ahead.begin_s, end_s), rounds, recorder, gpus)
    summary.update({f"{name}{WHOLE_RUN}": value for name, value in whole.items()})
    summary["makespan_s"] = float(np.nanmax(jobs["finish_s"], initial=end_s)) - ahead.begin_s
    summary.update(saved_figures(jobs))
    summary.update(_link_figures(ahead, jobs, stints))
    summary.update(_accounts(ahead, stints, measured))
    return Result(label, {}, summary, jobs, rounds, stints)


def _link_figures(ahead: Ahead, jobs: dict[str, Array], stints: LazyTable) -> dict[str, float | int | None]:
    """The bandwidth between the GPUs of jobs, where links are known; `jobs` get their column."""
    cluster = ahead.cluster_state.spec
    if not cluster.links:
        return {}
    jobs["link_gbps"] = link_gbps(stints, cluster, ahead.job_state.submitted)[ahead.rows]
    return link_figures(jobs)


def _accounts(ahead: Ahead, stints: LazyTable, measured: Measured) -> dict[str, float]:
    """What the look ahead costs and the energy it takes, where prices or power are given."""
    cluster = ahead.cluster_state.spec
    tariff = Tariff.of(measured.prices, measured.power, cluster)
    if not tariff:
        return {}
    log = ahead.manager.recorder.failures
    ahead_alone = {**stints, "start_s": np.maximum(stints["start_s"], ahead.begin_s)}
    _, figures = account(
        tariff,
        ahead_alone,
        cluster,
        jobs=ahead.job_state.submitted,
        begin_s=ahead.begin_s,
        end_s=ahead.end_s,
        shared=ahead.manager.recorder.shared,
        outages=outage_table(log, cluster, end_s=ahead.end_s) if log is not None else None,
    )
    return figures


def _jobs(ahead: Ahead, apps: str) -> dict[str, Array]:
    """The columns of the jobs that were present or came; those that had finished before cost nothing."""
    job_state, end_s, reasons = ahead.job_state.select(ahead.rows), ahead.end_s, {}
    for row, reason in ahead.manager.recorder.end_reasons.items():
        reasons[int(ahead.rows.searchsorted(row))] = reason
    gpus, work_s = ahead.cluster_state.spec.total_gpus, ahead.work_s[ahead.rows]
    jobs = metrics.job_columns(job_state, end_s=end_s, window=None, total_gpus=gpus, apps=apps)
    jobs.update(outcome_columns(job_state, jobs, work_s, reasons, end_s=end_s))
    jobs["saved_s"] = saved_s(job_state, work_s, reasons)
    return jobs


def _finish_alone(ahead: Ahead) -> None:
    """Jobs that have not finished go on by themselves, each at the speed that its duration implies."""
    job_state, end_s = ahead.job_state, ahead.end_s
    c = job_state.columns
    rows = ahead.rows[c.status[ahead.rows] != FINISHED]
    finish_s = end_s + np.maximum(ahead.work_s[rows] - progress.done_s(job_state, rows, end_s), 0.0)
    job_state.now = end_s
    waiting = rows[c.held_gpus[rows] == 0]
    progress.begin(job_state, waiting, c.gpus[waiting], 1.0, end_s)
    progress.bank(job_state, rows, finish_s)
    c.finish_s[rows] = finish_s
    c.status[rows] = FINISHED
