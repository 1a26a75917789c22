from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.problem import Problem
from blox.schedulers.gavel.solver.solvers import solver
from blox.workloads.table import Array

MOST = 4_000_000  # entries beyond which a matching takes minutes
LARGEST = 20_000_000  # entries of the matching's cost matrix with all places, as the original has it


@dataclass(frozen=True)
class AlloX:
    """Jobs are matched to places in GPUs' lines so that the sum of completion times is least (EuroSys'20).

    A job that is k-th from the end of a GPU's line delays itself and the k-1 behind it: the match costs k
    times its remaining time there. The first job in line runs and keeps its GPU until it ends. Single-GPU
    jobs only. Of the waiting jobs the oldest `alpha` x count (at least as many as GPUs are free) take part.
    The original matches against as many places as there are jobs, which decides ties between GPUs of a type.
    Where that is too large, lines are lengthened until the last place of every line stays empty: the same
    optimum, but other ties.
    """

    alpha: float = 1.0
    packed = False
    reads_durations = True

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        if (problem.width > 1).any():
            raise BloxError(
                f"job {problem.jobs[int(problem.width.argmax())]} takes {problem.width.max():g} GPUs",
                where="gavel allox",
                fix="AlloX knows jobs of one GPU only: take another policy or a workload of such jobs",
            )
        memory = {} if memory is None else memory
        held: dict[int, int] = memory.setdefault("held", {})
        at = {job: position for position, job in enumerate(problem.jobs.tolist())}
        for job in [job for job in held if job not in at]:
            del held[job]
        free = problem.gpus.astype(np.int64)
        np.subtract.at(free, list(held.values()), 1)
        waiting = np.array([at[job] for job in at if job not in held], dtype=np.int64)
        oldest = waiting[np.argsort(-problem.elapsed_s[waiting], kind="stable")]
        oldest = oldest[: max(int(self.alpha * len(oldest)), int(free.sum()))]
        fractions = np.zeros(problem.throughput.shape)
        for job, type_ in held.items():
            fractions[at[job], type_] = 1.0
        if len(oldest) and free.sum() > 0:
            speed = problem.throughput[oldest]
            time_s = problem.remaining_steps[oldest, None] / np.where(speed > 0, speed, 1e-10)
            type_of = np.repeat(np.arange(len(free)), np.maximum(free, 0))
            for position, type_ in _first_in_line(time_s, problem.elapsed_s[oldest], type_of):
                job = int(oldest[position])
                fractions[job, type_] = 1.0
                held[int(problem.jobs[job])] = type_
        return Allocation.of_jobs(fractions)


def _first_in_line(time_s: Array, since_s: Array, type_of: Array) -> list[tuple[int, int]]:
    """(job, type) of the first in line at every GPU: the highest place there in a cheapest matching."""
    optimize = solver("scipy.optimize")
    jobs, gpus = len(time_s), len(type_of)
    places = jobs if jobs * jobs * gpus <= LARGEST else min(jobs, -(-jobs // gpus) + 2)
    if places < jobs and jobs * places * gpus > MOST:
        raise BloxError(
            f"{jobs} waiting jobs are too many to match to {gpus} GPUs",
            where="gavel allox",
            fix=f"match the oldest only: alpha={max(0.01, round(MOST / (jobs * jobs), 2)):g}",
        )
    at_gpu, since = (
        time_s[:, type_of],
        since_s[:, None],
    )  # since: the same in a whole row, but ties hang on it
    while True:
        cost = np.concatenate([place * at_gpu + since for place in range(1, places + 1)], axis=1)
        chosen, columns = optimize.linear_sum_assignment(cost)
        if places == jobs or columns.max() < (places - 1) * gpus:
            break
        places = min(jobs, 2 * places)
    place, gpu = np.divmod(columns, gpus)
    ahead = np.lexsort((-place, gpu))
    _, first = np.unique(gpu[ahead], return_index=True)
    return [(int(chosen[each]), int(type_of[gpu[each]])) for each in ahead[first]]
