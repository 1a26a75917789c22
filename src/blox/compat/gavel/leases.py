"""The original's placement: jobs keep their GPUs where possible, the others take the next free ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from blox.compat.gavel.run_state import gavel_run
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation, Plan
from blox.state.schedule import Schedule

Members = tuple[int, ...]
Gpus = tuple[int, ...]


@dataclass
class Held:
    """Where jobs and pairs are."""

    total_gpus: int = 0
    gpus: dict[Members, Gpus] = field(default_factory=dict)


@dataclass(frozen=True)
class Leases:
    """Per GPU type the widest first: a lease is extended where all its GPUs are still free.

    A job that shares the GPUs of another holds half of each. Extensions are counted; they cost and save
    nothing.
    """

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Plan:
        held = job_state.memory(self, Held)
        held.total_gpus = cluster_state.total_gpus
        wanted = _combinations(schedule)
        active = set(job_state.active.tolist())
        counts, width = gavel_run(job_state).counts, job_state.columns.gpus
        counts.leases += sum(any(row in active for row in members) for members in held.gpus)
        found: dict[Members, Gpus] = {}
        for type_, members in wanted.items():
            free = dict.fromkeys(np.flatnonzero(cluster_state.gpu_type == type_).tolist())
            widths = [int(width[each[0]]) for each in members]
            for wide in sorted(set(widths), reverse=True):
                here = [each for each, count in zip(members, widths) if count == wide]
                for each in here:
                    gpus = held.gpus.get(each, ())
                    if gpus and all(gpu in free for gpu in gpus):
                        found[each] = gpus
                        for gpu in gpus:
                            del free[gpu]
                left = iter(list(free))
                for each in here:
                    if each not in found:
                        found[each] = tuple(islice(left, wide))
                        for gpu in found[each]:
                            del free[gpu]
        counts.extended += sum(held.gpus.get(each) == gpus for each, gpus in found.items())
        held.gpus = found
        return _changed(cluster_state.allocation, found, schedule.share_group is not None)

    def figures(self, job_state: JobState) -> dict[str, float]:
        """The original's own figures. Utilisation is execution time, that of two that share counted once."""
        counts = gavel_run(job_state).counts
        whole = job_state.memory(self, Held).total_gpus * job_state.now
        return {
            "utilisation": counts.busy_s / whole if whole else 0.0,
            "rounds_run": counts.passes,
            "allocations_made": counts.allocations,
            "leases_extended": counts.extended / counts.leases if counts.leases else 0.0,
            "slo_relaxed": len(counts.relaxed),
        }


def _combinations(schedule: Schedule) -> dict[int, list[Members]]:
    """Jobs and pairs by GPU type, in the order of the schedule."""
    assert schedule.gpu_type is not None
    rows, types = schedule.jobs.tolist(), schedule.gpu_type.tolist()
    partners = [-1] * len(rows) if schedule.share_group is None else schedule.share_group.tolist()
    found: dict[int, list[Members]] = {}
    for row, type_, partner in zip(rows, types, partners):
        there = found.setdefault(type_, [])
        if partner >= 0 and there and there[-1] == (partner,):
            there[-1] = (partner, row)
        else:
            there.append((row,))
    return found


def _changed(now: Allocation, wanted: dict[Members, Gpus], sharing: bool) -> Plan:
    """The plan after which every job is where `wanted` says."""
    gpus = {row: ids for members, ids in wanted.items() for row in members}
    group = {row: other for members in wanted for row, other in zip(members, (*members[1:], members[0]))}
    group |= {members[0]: -1 for members in wanted if len(members) == 1}
    old, old_group = now.as_dict(), {}
    if now.share_group is not None:
        old_group = dict(zip(now.jobs.tolist(), now.share_group.tolist()))
    removed = [row for row in old if row not in gpus]
    moved = [row for row in old if row in gpus and old[row] != gpus[row]]
    adjusted = [row for row in old if old[row] == gpus.get(row) and old_group.get(row, -1) != group[row]]
    launched = [row for row in gpus if row not in old]

    def part(rows: list[int]) -> Allocation:
        there = [gpus[row] for row in rows]
        groups = np.array([group[row] for row in rows], dtype=np.int64)
        return Allocation(
            np.array(rows, dtype=np.int64),
            np.array([len(ids) for ids in there], dtype=np.int64),
            np.array([gpu for ids in there for gpu in ids], dtype=np.int64),
            share_group=groups if sharing else None,
            share_milli=np.where(groups >= 0, 500, 1000) if sharing else None,
        )

    stay = {gpu for row in gpus if row in old and row not in moved for gpu in gpus[row]}
    freed = {gpu for row in (*removed, *moved) for gpu in old[row]} - stay
    leaving, given_up = (np.array(numbers, dtype=np.int64) for numbers in (removed, sorted(freed)))
    return Plan(part(launched), leaving, part(moved), part(adjusted), given_up, wanted=part(list(gpus)))
