"""What the original knows of each job: its best-case demand and speed, by model, GPUs and server."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from blox.performance.sensitivity import cores_per_gpu, node_shape
from blox.profiles.synergy import Demand, best_case, model_wants
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState


@dataclass
class Demands:
    """Demands by row, worked out once per model and GPU count; kept in a policy's memory."""

    of_row: list[Demand] = field(default_factory=list)
    gpus: list[int] = field(default_factory=list)
    fair_cpu: float = 0.0  # per GPU
    fair_memory: float = 0.0

    def update(self, job_state: JobState, cluster_state: ClusterState) -> Demands:
        """Takes in the jobs that have been submitted since."""
        seen, size = len(self.of_row), job_state.submitted
        if seen == size:
            return self
        shape, c = node_shape(cluster_state), job_state.columns
        wants = model_wants(cores_per_gpu(shape))
        self.fair_cpu, self.fair_memory = shape[1] / shape[0], shape[2] / shape[0]
        for row in range(seen, size):
            model, gpus = c.model[row], int(c.gpus[row])
            demand = best_case(wants.get(model), gpus, *shape)
            if model not in wants and not math.isnan(c.cpu[row]) and not math.isnan(c.memory_gb[row]):
                demand = Demand(float(c.cpu[row]), float(c.memory_gb[row]), 1.0)  # wants less or more in vain
            self.of_row.append(demand)
            self.gpus.append(gpus)
        return self
