"""The figures of a run: per job from JobState, and the summary over them. All times in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from blox.recording.recorder import Recorder
from blox.results import fairness
from blox.results.arrivals import WHOLE_RUN, Span, arrivals, occupancy
from blox.results.groups import groups_of
from blox.results.interruptions import interruptions
from blox.results.outcomes import ENDED_EARLY
from blox.state import progress
from blox.state.columns import ADMITTED, FINISHED
from blox.state.jobs import JobState
from blox.workloads.table import Array

MOST_GPU_COUNTS = 6  # above, waiting is told by ranges of GPU counts


def job_columns(
    job_state: JobState,
    *,
    end_s: float,
    window: tuple[int, int] | None,
    responsiveness_lag_s: float = 0.0,
    truncated: bool = False,
    moves_are_preemptions: bool = False,
    total_gpus: int = 0,
    apps: str = "group",
    duration_s: Array | None = None,
) -> dict[str, Array]:
    """One row per submitted job; nan where something never happened.

    `apps` is the column whose values make jobs one app ("job": each is its own).
    `responsiveness_lag_s` logs responsiveness so much later, and not at all where the run ends before; a
    `truncated` run ends before anything is logged at `end_s`. `duration_s`, by row, is the most work that
    counts as a job's time in isolation: presets that credit whole rounds count more as done.
    """
    c, n = job_state.columns, job_state.submitted
    logged = c.first_start_s[:n] + responsiveness_lag_s
    if responsiveness_lag_s:
        seen = logged < end_s if truncated else logged <= end_s
        logged = np.where(seen, logged, np.nan)
    finish = c.finish_s[:n]
    run_s = progress.run_s(job_state, slice(n), end_s)
    jct = finish - c.submit_s[:n]
    preemptions = c.preemptions[:n] + c.moves[:n] if moves_are_preemptions else c.preemptions[:n]
    position = np.arange(n)
    in_window = np.ones(n, dtype=np.int64)
    if window is not None:
        in_window = ((position >= window[0]) & (position <= window[1])).astype(np.int64)
    return {
        "job_id": _texts(c.job_id[:n]),
        "user": c.user[:n],
        "tenant": c.tenant[:n],
        "model": c.model[:n],
        "gpus": c.gpus[:n],
        "submit_s": c.submit_s[:n],
        "admit_s": c.admit_s[:n],
        "first_start_s": c.first_start_s[:n],
        "finish_s": finish,
        "jct_s": jct,
        "responsiveness_s": logged - c.submit_s[:n],
        "queueing_s": jct - run_s,
        "run_s": run_s,
        "gpu_seconds": progress.gpu_seconds(job_state, slice(n), end_s),
        "preemptions": preemptions,
        "moves": c.moves[:n],
        "state": _states(c.status[:n], c.held_gpus[:n]),
        "in_window": in_window,
        **_fairness_columns(job_state, apps, total_gpus, end_s, duration_s),
    }


def _fairness_columns(
    job_state: JobState, apps: str, total_gpus: int, end_s: float, duration_s: Array | None
) -> dict[str, Array]:
    """rho of each job, the number of its app, and rho of that app; of an app of one job they are equal."""
    c, n = job_state.columns, job_state.submitted
    submit_s, finish_s = c.submit_s[:n], c.finish_s[:n]
    # At a finish the work done is the work there was: a run time in isolation that no policy could see.
    work_s = c.done0[:n]
    if duration_s is not None:  # by more than a rounding error
        work_s = np.where(work_s > duration_s[:n] * (1 + 1e-9), duration_s[:n], work_s)
    app = fairness.apps_of(getattr(c, apps)[:n]) if apps != "job" else np.arange(n)
    rho = of_apps = fairness.job_rho(submit_s, finish_s, work_s, end_s)
    if len(app) and int(app[-1]) != n - 1:
        each = fairness.app_rho(app, submit_s, finish_s, work_s, c.gpus[:n], total_gpus, end_s)
        of_apps = each[app]
    return {"rho": rho, "app": app, "app_rho": of_apps}


def _texts(ids: Array) -> Array:
    """Job ids as text, as `jobs.csv` has them; generators number their jobs."""
    return np.array([str(each) for each in ids.tolist()], dtype=object)


def _states(status: Array, held_gpus: Array) -> Array:
    """Each job's state in a word."""
    words = np.full(len(status), "submitted", dtype=object)
    words[status == ADMITTED] = "queued"
    words[held_gpus > 0] = "running"
    words[status == FINISHED] = "finished"
    return words


def summarise(
    jobs: dict[str, Array],
    rounds: dict[str, Array],
    recorder: Recorder,
    *,
    end_s: float,
    total_gpus: int,
    round_s: float,
    moves_are_preemptions: bool = False,
) -> dict[str, Any]:
    """JCT and responsiveness over the finished jobs of the window; what is not of jobs over their arrivals.

    Preemptions, moves and causes of waiting are over all jobs and the whole run.
    """
    measured = jobs["in_window"] == 1
    finished = measured & ~np.isnan(jobs["finish_s"])
    begin_s = float(jobs["submit_s"][0]) if len(measured) else 0.0
    last = float(jobs["finish_s"][finished].max()) if finished.any() else end_s
    arriving = arrivals(jobs["submit_s"], measured, end_s, round_s)
    whole = occupancy(Span(begin_s, end_s), rounds, recorder, total_gpus)
    summary: dict[str, Any] = {
        **job_figures(jobs, np.flatnonzero(measured), end_s=end_s),
        "makespan_s": last - begin_s,
        **occupancy(arriving, rounds, recorder, total_gpus),
        **{f"{name}{WHOLE_RUN}": value for name, value in whole.items()},
        "arrivals_begin_s": arriving.begin_s,
        "arrivals_end_s": arriving.end_s,
        "preemptions": int(jobs["preemptions"].sum()),
        "moves": int(jobs["moves"].sum()),
        "interruptions": interruptions(jobs, moves_are_preemptions),
        "gpu_hours": float(jobs["gpu_seconds"].sum()) / 3600,
    }
    summary.update(_fairness(jobs, finished))
    summary["waited_by_gpus"] = _waiting_by_gpus(jobs, np.flatnonzero(measured))
    summary.update({f"wait_{cause}_s": seconds for cause, seconds in recorder.waits().items()})
    arrival = seen_s(jobs["submit_s"], rounds["time_s"], end_s) - jobs["submit_s"]
    summary["wait_arrival_s"] = float(arrival.sum())
    summary["submitted"] = len(measured)
    summary["end_s"] = end_s
    return summary


def job_figures(jobs: Mapping[str, Array], rows: Array, *, end_s: float) -> dict[str, Any]:
    """Figures of some of the jobs: of a whole run, of its window, or of a group in a breakdown.

    JCT, queueing and slowdown are over those that have finished, responsiveness over those that have started,
    waiting over all of them: a job that has not finished counts with what it has waited when the run ends.
    """
    finish_s = jobs["finish_s"][rows]
    finished = rows[~np.isnan(finish_s)]
    jct, responsiveness = jobs["jct_s"][finished], jobs["responsiveness_s"][rows]
    responsiveness = responsiveness[~np.isnan(responsiveness)]
    waited, slowdown = jobs["waited_s"][rows], jobs["slowdown"][finished]
    slowdown = slowdown[~np.isnan(slowdown)]
    median_jct, p95_jct, p99_jct = _percentiles(jct, 50, 95, 99)
    p95_waited, p99_waited = _percentiles(waited, 95, 99)
    deadline_s = jobs["deadline_s"][rows]
    late = np.where(np.isnan(finish_s), end_s, finish_s) > deadline_s
    return {
        "jobs": len(rows),
        "finished": len(finished),
        "avg_jct_s": _mean(jct),
        "median_jct_s": median_jct,
        "p95_jct_s": p95_jct,
        "p99_jct_s": p99_jct,
        "avg_responsiveness_s": _mean(responsiveness),
        "p95_responsiveness_s": _percentiles(responsiveness, 95)[0],
        "avg_queueing_s": _mean(jobs["queueing_s"][finished]),
        "p95_waited_s": p95_waited,
        "p99_waited_s": p99_waited,
        "max_waited_s": float(waited.max()) if len(waited) else None,
        "avg_slowdown": _mean(slowdown),
        "p95_slowdown": _percentiles(slowdown, 95)[0],
        "ended_early": int((jobs["state"][rows] == ENDED_EARLY).sum()),
        "deadlines": int((~np.isnan(deadline_s)).sum()),
        "deadlines_missed": int(late.sum()),
    }


def _waiting_by_gpus(jobs: Mapping[str, Array], rows: Array) -> dict[str, dict[str, Any]]:
    """How long the jobs of each GPU count waited, so that none starves unseen behind an average."""
    found: dict[str, dict[str, Any]] = {}
    for group in groups_of(jobs["gpus"], rows, most=MOST_GPU_COUNTS):
        waited = jobs["waited_s"][group.rows]
        p95, p99 = _percentiles(waited, 95, 99)
        found[str(group.value)] = {
            "jobs": len(waited),
            "avg_s": _mean(waited),
            "p95_s": p95,
            "p99_s": p99,
            "max_s": float(waited.max()),
        }
    return found


def seen_s(submit_s: Array, time_s: Array, end_s: float) -> Array:
    """When each job was first looked at: at the first recorded moment at or after its submission."""
    seen: Array = np.append(time_s, end_s)[time_s.searchsorted(submit_s)]
    return np.maximum(seen, submit_s)


def _fairness(jobs: dict[str, Array], finished: Array) -> dict[str, float | None]:
    """Mean, largest and Jain's index of rho, over jobs and over apps (each once) that have finished."""
    rho = jobs["rho"][finished]
    first = np.unique(jobs["app"][finished], return_index=True)[1]
    of_apps = jobs["app_rho"][finished][first]
    found: dict[str, float | None] = {}
    for name, values in (("", rho), ("app_", of_apps)):
        values = values[~np.isnan(values)]
        found[f"avg_{name}rho"] = _mean(values)
        found[f"max_{name}rho"] = float(values.max()) if len(values) else None
        found[f"{name}rho_jain"] = fairness.jain_index(values)
    return found


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _percentiles(values: Array, *percent: float) -> list[float] | list[None]:
    """Several percentiles at once: the values are put in order once."""
    return np.percentile(values, percent).tolist() if len(values) else [None] * len(percent)
