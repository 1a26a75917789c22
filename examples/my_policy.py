"""A scheduling policy of one's own, in ten lines: little work first, but no job waits for ever.

blox check ./examples/my_policy.py:Ageing
blox run --scheduler ./examples/my_policy.py:Ageing:half_life_s=7200
"""

from dataclasses import dataclass

import numpy as np

from blox import Schedule


@dataclass(frozen=True)
class Ageing:
    """Jobs with the least work left go first; each `half_life_s` of age counts like half the work."""

    half_life_s: float = 14400.0

    def schedule(self, job_state, cluster_state):
        work = job_state.remaining_s() * job_state.gpus
        return Schedule.ordered(job_state, by=np.log2(1 + work) + job_state.submit_s / self.half_life_s)
