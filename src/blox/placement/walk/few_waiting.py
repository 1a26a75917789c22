"""Who starts and who makes room where GPUs are merely counted and few jobs wait.

Only a part of the line matters then: who stands before the first who waits goes on running, since all that
it needs, it holds; and so does everybody who is followed by enough others for all who wait. What is left is
walked job by job, as plain numbers.
"""

from __future__ import annotations

import numpy as np

from blox.state.jobs import JobState
from blox.state.schedule import Deferred, Schedule
from blox.workloads.table import Array

SHORT_LINE = 256  # jobs: a longer line is counted all at once


def has_one_key(schedule: Schedule) -> bool:
    """Whether jobs go by one number each; nothing is worked out where a schedule knows its line by itself."""
    return (isinstance(schedule, Deferred) and schedule.contested is not None) or len(schedule.keys) == 1


def displaced_by_few(
    schedule: Schedule, job_state: JobState, free: int
) -> tuple[list[int], list[int], list[int]] | None:
    """The rows that start, in order, their GPUs, and the rows that make room, ascending; None: too many.

    For a schedule of all active jobs by one key in which a job that does not fit is passed over, and in
    which some wait.
    """
    if isinstance(schedule, Deferred) and schedule.contested is not None:
        line = schedule.contested(job_state, free, SHORT_LINE)
    else:
        line = _contested(schedule, job_state, free)
    if line is None:
        return None
    gpus, held = job_state.scalars.gpus, job_state.scalars.held_gpus
    free += sum([held[row] for row in line])
    starting: list[int] = []
    counts: list[int] = []
    leaving: list[int] = []
    for row in line:
        need = gpus[row]
        if need <= free:
            free -= need
            if not held[row]:
                starting.append(row)
                counts.append(need)
        elif held[row]:
            leaving.append(row)
    leaving.sort()
    return starting, counts, leaving if starting else []


def _contested(schedule: Schedule, job_state: JobState, free: int) -> list[int] | None:
    """The part of the line that matters, as rows in order; None: too many."""
    active, columns, key = schedule.jobs, job_state.columns, schedule.keys[0]
    held = columns.held_gpus.take(active)
    waiting = (held == 0).nonzero()[0]
    line = (key >= min(key.take(waiting).tolist())).nonzero()[0]
    if len(line) > SHORT_LINE:
        needed = sum(columns.gpus.take(active.take(waiting)).tolist())
        line = _last(key, held, waiting, needed - free)
        if len(line) > SHORT_LINE:
            return None
    return active.take(line.take(key.take(line).argsort(kind="stable"))).tolist()  # type: ignore[no-any-return]


def _last(key: Array, held: Array, waiting: Array, shortage: int) -> Array:
    """The positions of those who wait, and of the last in line, who hold so many GPUs or more."""
    size, count = len(key), len(waiting) + SHORT_LINE // 4
    while count < size:
        last: Array = key >= np.partition(key, size - count)[size - count]
        if int(held[last].sum()) >= shortage:
            last[waiting] = True
            return last.nonzero()[0]
        count *= 2
    return np.arange(size)
