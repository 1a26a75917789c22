"""A scheduler's states from its records: the table of jobs, and which job holds which GPUs."""

from __future__ import annotations

import numpy as np

from blox.cluster.central.jobs import KEPT, Jobs, expected_of, table_of
from blox.cluster.central.nodes import Nodes, cluster_of
from blox.cluster.central.stints import Stints, gpus_of
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.columns import ADMITTED, FINISHED
from blox.state.jobs import JobState
from blox.state.node_events import NodeState
from blox.state.plan import Allocation


def job_state_of(jobs: Jobs, now: float, seed: int) -> JobState:
    """The table of jobs as it was after the last round that was saved."""
    job_state = JobState(seed)
    job_state.now = now
    rows = jobs.by_row
    if not rows:
        return job_state
    job_state.stage(table_of(rows), expected_of(rows))
    job_state.submit(len(rows))
    status = np.array([job.columns.get("status", 0.0) for job in rows])
    ended = np.array([bool(job.end) for job in rows])
    job_state.add_new_jobs((ended | (status >= ADMITTED)).nonzero()[0])
    gone = (ended | (status >= FINISHED)).nonzero()[0]
    if len(gone):
        job_state.finish(gone, np.array([rows[row].end_s for row in gone.tolist()]))
    for job in rows:
        saved = {name: job.columns[name] for name in KEPT if name in job.columns}
        progress.restore(job_state, job.row, saved)
    job_state.just_admitted = job_state.just_finished = np.empty(0, dtype=np.int64)
    return job_state


def cluster_state_of(nodes: Nodes, jobs: Jobs, stints: Stints) -> ClusterState | None:
    """The cluster with what the latest plan commanded; None before the first node has joined.

    Nodes keep the jobs they have, and take no other until they have reported.
    """
    records = list(nodes.records.values())
    if not records:
        return None
    held: dict[int, tuple[int, ...]] = {}
    for stint in stints.all.values():
        job = jobs.all[stint.job]
        if job.commanded == stint.epoch and not job.end:
            held[job.row] = gpus_of(stint, nodes.first_gpu)
    states: list[NodeState] = ["draining"] * len(records)
    return cluster_of(records, states, Allocation.from_dict(held))
