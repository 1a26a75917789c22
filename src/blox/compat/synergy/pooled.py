"""The original's OPT: cores and memory by a program over the whole cluster as one pool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.compat.synergy.repack import fitting
from blox.performance.sensitivity import node_shape
from blox.placement.synergy.program import Choice, best_points
from blox.profiles.synergy import surfaces
from blox.protocols import for_ever
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.state.schedule import Schedule


@dataclass
class _Solved:
    gap: float = 0.0
    programs: int = 0


@dataclass(frozen=True)
class Pooled:
    """The jobs that fit by GPU count; each gets the point of its profile that the program chooses.

    The sum of speeds, not weighted by GPUs, is as large as possible with all cores and memory in one pool,
    and no job is slower than with its fair share. Which servers those would come from is not asked.
    """

    time_limit_s: float = 10.0

    ignores_nodes = True

    def place(self, schedule: Schedule, cluster_state: ClusterState, job_state: JobState) -> Allocation:
        columns = job_state.columns
        gpus: list[int] = columns.gpus[: job_state.submitted].tolist()
        chosen = fitting(schedule.jobs.tolist(), gpus, cluster_state.total_gpus)
        if not chosen:
            return Allocation()
        node_gpus, node_cpu, node_memory = node_shape(cluster_state)
        known = surfaces()
        fair = (node_cpu / node_gpus, node_memory / node_gpus)
        found = best_points(
            [Choice.of(known.get(columns.model[row]), fair, ((0, gpus[row]),)) for row in chosen],
            [node_cpu * cluster_state.nodes],
            [node_memory * cluster_state.nodes],
            self.time_limit_s,
        )
        solved = job_state.memory(self, _Solved)
        solved.gap, solved.programs = max(solved.gap, found.gap), solved.programs + 1
        counts = [gpus[row] for row in chosen]
        return Allocation(
            np.array(chosen),
            np.array(counts),
            np.arange(sum(counts)),
            cpu=np.array([point[0] * need for point, need in zip(found.points, counts)]),
            memory_gb=np.array([point[1] * need for point, need in zip(found.points, counts)]),
        )

    stable_until = for_ever

    def figures(self, job_state: JobState) -> dict[str, float]:
        """How far from the best the programs may have ended, and how many there were."""
        solved = job_state.memory(self, _Solved)
        return {"opt_gap": solved.gap, "opt_solved": solved.programs}
