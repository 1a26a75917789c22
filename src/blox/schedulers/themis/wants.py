"""What an app asks for in an auction: the numbers of GPUs it can use, and which jobs would get them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from blox.state.jobs import JobState
from blox.workloads.table import Array

Grant = tuple[int, int]  # position of a job in `active`, GPUs


@dataclass(frozen=True)
class Want:
    """Jobs in the order in which the app serves them, each with the numbers of GPUs it can use, ascending."""

    jobs: tuple[tuple[int, tuple[int, ...]], ...]

    def joined(self, other: Want) -> Want:
        """The jobs of both, in this order."""
        return Want(self.jobs + other.jobs)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of GPUs that the app can put to use, ascending."""
        if len(self.jobs) == 1:
            return self.jobs[0][1]
        total, found = 0, []
        for _, sizes in self.jobs:
            total += sizes[-1]
            found.append(total)
        return tuple(found)

    def take(self, gpus: int) -> list[Grant]:
        """Which jobs get how many of the GPUs that the app has won: in its own order, as long as they fit."""
        found = []
        for position, sizes in self.jobs:
            fitting = [size for size in sizes if size <= gpus]
            if not fitting:
                break
            found.append((position, fitting[-1]))
            gpus -= fitting[-1]
        return found

    def next_step(self, granted: dict[int, int], gpus: int) -> Grant | None:
        """The least that the app can make use of next, out of so many GPUs: a job, and how many it then has.

        The first job that has nothing yet starts as small as it can; if there is none, one that has
        something goes on to its next size.
        """
        for position, sizes in self.jobs:
            if position not in granted and sizes[0] <= gpus:
                return position, sizes[0]
        for position, sizes in self.jobs:
            has = granted.get(position, 0)
            more = next((size for size in sizes if size > has), 0)
            if has and more and more - has <= gpus:
                return position, more
        return None


def wants(job_state: JobState, positions: Array) -> dict[int, Want]:
    """Each of these active jobs by itself; those that run come first, since they would lose their place."""
    columns, rows = job_state.columns, job_state.active.take(positions)
    runs = columns.held_gpus.take(rows) > 0
    found: dict[int, Want] = {}
    low, high = columns.min_gpus.take(rows).tolist(), columns.max_gpus.take(rows).tolist()
    for place in (*runs.nonzero()[0].tolist(), *(~runs).nonzero()[0].tolist()):
        position = int(positions[place])
        found[position] = Want(((position, _sizes(low[place], high[place])),))
    return found


def _sizes(least: int, most: int) -> tuple[int, ...]:
    """What a job can use: `least`, twice that, ..., and `most`. Whole gangs only where they are the same."""
    if least == most:
        return (most,)
    found = []
    size = max(1, least)
    while size < most:
        found.append(size)
        size *= 2
    return (*found, most)
