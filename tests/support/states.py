"""Job tables, job states and cluster states in a moment that a test describes by a few numbers."""

import numpy as np

from blox.state.cluster import ClusterState
from blox.state.cluster_spec import cluster_from_spec
from blox.state.jobs import JobState
from blox.state.plan import Plan
from blox.workloads.table import JobTable


def job_table(gpus, duration_s=1.0, **columns) -> JobTable:
    """Jobs `job-0`, `job-1`, ... of so many GPUs each, all submitted at 0 s unless `submit_s` is given."""
    count = len(gpus)
    given = {
        "job_id": [f"job-{row}" for row in range(count)],
        "submit_s": np.zeros(count),
        "gpus": np.asarray(gpus),
        "duration_s": np.broadcast_to(np.asarray(duration_s, dtype=np.float64), count),
    }
    return JobTable.build(given | columns, source="test")


def staged(gpus, duration_s=1.0, seed=0, **columns) -> JobState:
    """A job state that knows these jobs; none is submitted. Policies believe their true durations."""
    job_state, table = JobState(seed=seed), job_table(gpus, duration_s, **columns)
    job_state.stage(table, table.columns["duration_s"])
    return job_state


def admitted(gpus, duration_s=1.0, seed=0, **columns) -> JobState:
    """A job state in which all these jobs are admitted; none runs."""
    job_state = staged(gpus, duration_s, seed, **columns)
    job_state.submit(len(gpus))
    job_state.add_new_jobs(job_state.waiting)
    return job_state


def idle_cluster(spec: str) -> ClusterState:
    """A cluster state of which all GPUs are free."""
    return ClusterState(cluster_from_spec(spec))


def placed(answer, cluster_state):
    """The allocation after a placement's answer, which is a plan or an allocation."""
    return answer.outcome(cluster_state.allocation) if isinstance(answer, Plan) else answer
