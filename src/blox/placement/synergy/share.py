"""Sharing the cores and memory of nodes out among the jobs that stand on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from blox.placement.synergy.beliefs import Amounts, Wants
from blox.placement.synergy.program import Choice, best_points
from blox.placement.walk.room import Share
from blox.profiles.synergy import surfaces
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState

Places = dict[int, tuple[Share, ...]]  # row -> (node, GPUs), rows and nodes ascending
Grants = dict[str, dict[int, float]]  # column of an allocation -> row -> cores or memory (GB) in all


def fair_shares(places: Places, cluster_state: ClusterState) -> Wants:
    """The proportional share of each job: cores and memory per GPU, the least over its nodes."""
    gpus = cluster_state.node_gpus
    cpu, memory = (cluster_state.node_cpu / gpus).tolist(), (cluster_state.node_memory_gb / gpus).tolist()
    return {
        row: (min(cpu[node] for node, _ in shares), min(memory[node] for node, _ in shares))
        for row, shares in places.items()
    }


def shared(places: Places, wants: Wants, cluster_state: ClusterState) -> Grants:
    """A job that wants no more than its fair share has what it wants; the others share what is left.

    No job that wants more than its fair share has less of anything. Jobs that want least beyond it come
    first, so that many have all they want (ties: the earlier row); the others divide the rest by their
    GPUs."""
    left = np.column_stack((cluster_state.node_cpu, cluster_state.node_memory_gb)).tolist()

    def take(row: int, amounts: Amounts) -> None:
        for node, count in places[row]:
            left[node] = [max(0.0, rest - amount * count) for rest, amount in zip(left[node], amounts)]

    have = fair_shares(places, cluster_state)
    for row, (cpu, memory) in have.items():
        if wants[row][0] <= cpu and wants[row][1] <= memory:
            have[row] = wants[row]
        take(row, have[row])
    wanting_more = [row for row in places if have[row] != wants[row]]
    more = {row: (wants[row][0] - have[row][0], wants[row][1] - have[row][1]) for row in wanting_more}
    waiting: Counter[int] = Counter()  # node -> GPUs of the jobs that do not have all they want
    unsatisfied = []
    for row in sorted(wanting_more, key=lambda row: (more[row], row)):
        if all(left[node][axis] >= count * more[row][axis] for node, count in places[row] for axis in (0, 1)):
            have[row] = wants[row]
            take(row, more[row])
        else:
            unsatisfied.append(row)
            waiting.update(dict(places[row]))
    for row in unsatisfied:  # an equal part of what is left for each, and what one cannot use for the next
        cpu, memory = (
            max(0.0, min(more[row][axis], *(left[node][axis] / waiting[node] for node, _ in places[row])))
            for axis in (0, 1)
        )
        have[row] = have[row][0] + cpu, have[row][1] + memory
        take(row, (cpu, memory))
        waiting.subtract(dict(places[row]))
    return _in_all(have, places)


def best(
    places: Places, cluster_state: ClusterState, job_state: JobState, profiles: str, time_limit_s: float
) -> tuple[Grants, float]:
    """The grants with the largest sum of speeds that each node's cores and memory allow, and the gap."""
    if not places:
        return _in_all({}, places), 0.0
    known, models = surfaces(profiles), job_state.columns.model
    fair = fair_shares(places, cluster_state)
    choices = [Choice.of(known.get(models[row]), fair[row], shares) for row, shares in places.items()]
    cpu, memory_gb = cluster_state.node_cpu.tolist(), cluster_state.node_memory_gb.tolist()
    found = best_points(choices, cpu, memory_gb, time_limit_s)
    return _in_all(dict(zip(places, found.points)), places), found.gap


def _in_all(per_gpu: Mapping[int, Sequence[float]], places: Places) -> Grants:
    """The cores and memory of each job, from those per GPU."""
    gpus = {row: sum(count for _, count in shares) for row, shares in places.items()}
    return {
        column: {row: per_gpu[row][axis] * count for row, count in gpus.items()}
        for axis, column in enumerate(("cpu", "memory_gb"))
    }
