"""A scheduling policy that resizes jobs: all share the GPUs of the cluster, within their limits.

blox policy --scheduler ./examples/cluster/share.py:Share
blox submit --gpus 4 --min-gpus 1 --max-gpus 4 -- python examples/training/elastic.py
"""

from dataclasses import dataclass

import numpy as np

from blox import Schedule


@dataclass(frozen=True)
class Share:
    """Each job gets an even share of the GPUs, rounded down to a power of two; the oldest job goes first."""

    resizes = True

    def schedule(self, job_state, cluster_state):
        jobs = job_state.active
        least, most = job_state.columns.min_gpus[jobs], job_state.columns.max_gpus[jobs]
        share = max(1, cluster_state.total_gpus // max(1, len(jobs)))
        even = 2 ** int(np.log2(share))
        return Schedule(jobs, (job_state.submit_s,), gpus=np.clip(even, least, most))
