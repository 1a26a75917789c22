from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from blox.schedulers.gavel.allocation import Allocation
from blox.schedulers.gavel.problem import Problem


@dataclass(frozen=True)
class Fifo:
    """Jobs in order of age, each on a type drawn at random among those with room, where it then stays.

    The draws come from `random.Random(seed)`, kept in `memory` with the type of every job. The original draws
    a type and then gives the last one by name that has any GPU free, room or no room, so that types are
    handed out more often than they have GPUs: `unchecked` does that too. The paper's FIFO baseline is
    inflated by it.
    """

    seed: int = 0
    unchecked: bool = False
    packed = False

    def allocate(self, problem: Problem, memory: dict[str, Any] | None = None) -> Allocation:
        memory = {} if memory is None else memory
        draws: random.Random = memory.setdefault("draws", random.Random(self.seed))
        held: dict[int, int] = memory.setdefault("held", {})
        at = {job: position for position, job in enumerate(problem.jobs.tolist())}
        queue = sorted(job for job in at if job not in held)
        free = problem.gpus.copy()
        for job in sorted(held):
            if job in at:
                free[held[job]] -= problem.width[at[job]]
                continue
            type_ = held.pop(job)  # its place goes to the head of the queue, if that fits there now
            if (
                queue
                and problem.width[at[queue[0]]] <= free[type_]
                and problem.throughput[at[queue[0]], type_] > 0
            ):
                head = queue.pop(0)
                held[head] = type_
                free[type_] -= problem.width[at[head]]
        names = np.argsort(np.array(problem.gpu_types), kind="stable").tolist()
        some = [type_ for type_ in names if free[type_] > 0]
        for job in queue:
            room = [type_ for type_ in some if free[type_] >= problem.width[at[job]]]
            if not room:
                break
            drawn = room[draws.randrange(len(room))]
            taken = some[-1] if self.unchecked else drawn
            if problem.throughput[at[job], taken] <= 0:
                continue
            held[job] = taken
            free[taken] -= problem.width[at[job]]
            if free[taken] == 0:
                some.remove(drawn)
            if not some:
                break
        fractions = np.zeros(problem.throughput.shape)
        for job, type_ in held.items():
            fractions[at[job], type_] = 1.0
        return Allocation.of_jobs(fractions)
