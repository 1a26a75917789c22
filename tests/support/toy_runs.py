"""Runs of a toy scheduler: the shape of `blox.results.result.Result`, made in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blox.results.replications import Replications
from blox.results.result import Result

ROUND_S = 300.0
NODE = 4
ORDERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "fifo": lambda submit, left, got: submit,
    "srtf": lambda submit, left, got: left,
    "las": lambda submit, left, got: got,
}
ROUND_COLUMNS = (
    *("time_s", "held", "queued", "running", "gpus_total", "gpus_used", "gpus_demanded", "free_gpus"),
    *("largest_free", "fragmentation", "launched", "suspended", "moved", "finished", "handed_out", "blocked"),
)


@dataclass(frozen=True)
class ToyResult:
    label: str
    experiment: dict[str, Any]
    summary: dict[str, Any]
    jobs: dict[str, np.ndarray]
    rounds: dict[str, np.ndarray]
    stints: dict[str, np.ndarray]
    timing: dict[str, Any] = field(default_factory=lambda: {"jobs_per_s": 123456.7, "wall_s": 0.1})
    tables: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)


def over_seeds(runs: Sequence[ToyResult]) -> Replications:
    """Runs that differ in their seed, as one."""
    return Replications(tuple(Result(*vars(run).values()) for run in runs))


def with_figures(label: str, **figures: Sequence[float]) -> Replications:
    """A run over as many seeds as each figure has values."""
    count = len(next(iter(figures.values())))
    runs = [toy_run(jobs=2, seed=seed) for seed in range(count)]
    for at, run in enumerate(runs):
        run.summary.update({name: values[at] for name, values in figures.items()})
    return over_seeds([ToyResult(label, *list(vars(run).values())[1:]) for run in runs])


def toy_run(
    order: str = "fifo", jobs: int = 60, gpus: int = 16, seed: int = 1, max_rounds: int = 100_000
) -> ToyResult:
    """Preemptive list scheduling by rounds on GPUs taken in order; enough for plausible pictures."""
    rng = np.random.default_rng(seed)
    submit = np.cumsum(rng.exponential(900.0 * 16 / gpus, jobs))
    size = rng.choice([1, 2, 4, 8], p=[0.6, 0.15, 0.15, 0.1], size=jobs)
    left = np.maximum(rng.lognormal(8.2, 1.3, jobs), 60.0)
    got, run_s = np.zeros(jobs), np.zeros(jobs)
    first, finish = np.full(jobs, np.nan), np.full(jobs, np.nan)
    preemptions = np.zeros(jobs, dtype=int)
    held: dict[int, list[int]] = {}
    since: dict[int, float] = {}
    stints: list[tuple[int, int, float, float]] = []
    rounds: list[tuple[float, ...]] = []
    waits = dict.fromkeys(("priority", "capacity"), 0.0)
    now = 0.0
    for _ in range(max_rounds):
        unfinished = np.isnan(finish)
        if not unfinished.any():
            break
        active = np.flatnonzero((submit <= now) & unfinished)
        wanted, free = [], gpus
        for row in active[np.lexsort((active, ORDERS[order](submit, left, got)[active]))].tolist():
            if size[row] <= free:
                wanted.append(row)
                free -= int(size[row])
        suspended = [row for row in held if row not in wanted]
        for row in suspended:
            stints += [(row, gpu, since[row], now) for gpu in held.pop(row)]
            preemptions[row] += 1
        launched = [row for row in wanted if row not in held]
        for row in launched:
            taken = {gpu for owned in held.values() for gpu in owned}
            held[row] = [gpu for gpu in range(gpus) if gpu not in taken][: size[row]]
            since[row] = now
            first[row] = now if np.isnan(first[row]) else first[row]
        used = gpus - free
        busy = {gpu for owned in held.values() for gpu in owned}
        idle = [sum(gpu not in busy for gpu in range(node, node + NODE)) for node in range(0, gpus, NODE)]
        partly = sum(count for count in idle if 0 < count < NODE)
        waiting = len(active) - len(wanted)
        waits["priority" if suspended else "capacity"] += waiting * ROUND_S
        done = [row for row in wanted if left[row] <= ROUND_S]
        finish[done] = now + left[done]
        rounds.append(
            (
                *(now, 0, waiting, len(wanted), gpus, used, int(size[active].sum()), free, max(idle)),
                *(partly / free if free else 0.0, len(launched), len(suspended), 0, len(done), 0, 0),
            )
        )
        for row in wanted:
            ran = min(ROUND_S, left[row])
            left[row] -= ran
            run_s[row] += ran
            got[row] += ran * size[row]
        for row in done:
            stints += [(row, gpu, since[row], finish[row]) for gpu in held.pop(row)]
        now += ROUND_S
    stints += [(row, gpu, since[row], now) for row, owned in held.items() for gpu in owned]
    return _result(
        order, seed, gpus, now, submit, size, first, finish, run_s, got, preemptions, stints, rounds, waits
    )


def _result(
    order, seed, gpus, now, submit, size, first, finish, run_s, got, preemptions, stints, rounds, waits
):  # type: ignore[no-untyped-def]
    count = len(submit)
    jct, responsiveness = finish - submit, first - submit
    table = np.array(rounds, dtype=float).reshape(len(rounds), len(ROUND_COLUMNS))
    columns = list(zip(*stints)) if stints else [(), (), (), ()]

    def over(values, how):  # type: ignore[no-untyped-def]
        finite = values[np.isfinite(values)]
        return float(how(finite)) if len(finite) else float("nan")

    state = np.where(
        np.isfinite(finish), "finished", np.where(np.isfinite(first), "running", "queued")
    ).astype(object)
    text = np.array([""] * count, dtype=object)
    held_gpus = table[:, ROUND_COLUMNS.index("gpus_used")]
    summary = {
        "jobs": int(np.isfinite(finish).sum()),
        "avg_jct_s": over(jct, np.mean),
        "median_jct_s": over(jct, np.median),
        "p95_jct_s": over(jct, lambda v: np.percentile(v, 95)),
        "p99_jct_s": over(jct, lambda v: np.percentile(v, 99)),
        "avg_responsiveness_s": over(responsiveness, np.mean),
        "p95_responsiveness_s": over(responsiveness, lambda v: np.percentile(v, 95)),
        "avg_queueing_s": over(jct - run_s, np.mean),
        "makespan_s": over(finish, np.max),
        "utilisation": float(held_gpus.mean() / gpus) if len(held_gpus) else float("nan"),
        "fragmentation": 0.25,
        "preemptions": int(preemptions.sum()),
        "moves": 0,
        "interruptions": int(preemptions.sum()),
        "wait_admission_s": 0.0,
        "wait_priority_s": waits["priority"],
        "wait_capacity_s": waits["capacity"],
        "wait_fragmentation_s": waits["capacity"] * 0.1,
        "rounds": len(rounds),
        "end_s": now,
    }
    jobs = {
        "job_id": np.array([f"j{row}" for row in range(count)], dtype=object),
        "user": text,
        "tenant": text,
        "model": text,
        "gpus": size,
        "submit_s": submit,
        "admit_s": submit,
        "first_start_s": first,
        "finish_s": finish,
        "jct_s": jct,
        "responsiveness_s": responsiveness,
        "queueing_s": jct - run_s,
        "run_s": run_s,
        "gpu_seconds": got,
        "preemptions": preemptions,
        "moves": np.zeros(count, dtype=int),
        "state": state,
        "in_window": np.ones(count, dtype=bool),
    }
    experiment = {
        "workload": f"toy:jobs={count}",
        "cluster": f"{gpus // NODE}x{NODE}",
        "scheduler": order,
        "round_s": ROUND_S,
        "seed": seed,
        "provenance": {"version": "0.1.0", "workload_sha256": f"{seed:08}"},
    }
    return ToyResult(
        order,
        experiment,
        summary,
        jobs,
        {name: table[:, at] for at, name in enumerate(ROUND_COLUMNS)},
        {name: np.array(columns[at]) for at, name in enumerate(("job", "gpu", "start_s", "end_s"))},
    )
