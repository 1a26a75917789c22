"""A performance model of two jobs on the same GPUs, as the beginning of a user's file."""

NO_SLOWER = '''from dataclasses import dataclass
import numpy as np
from blox import Schedule
from blox.backends.shared import SharedSimulation

@dataclass(frozen=True)
class NoSlower:
    """Jobs that share lose nothing."""

    simulation = SharedSimulation

    def kinds(self, rows, cluster_state, job_state):
        return np.zeros(len(rows), dtype=np.int64)

    def speeds(self, grants, kinds, cluster_state, job_state):
        alone = np.ones(len(grants.jobs))
        return alone, alone, alone

    def rate(self, grants, cluster_state, job_state):
        return 1.0
'''
