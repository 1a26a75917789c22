"""Random moments in the middle of a run: some jobs hold GPUs, others wait, and a schedule lists them."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec, Node
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.state.schedule import Schedule
from support.states import admitted
from support.worlds import CLUSTERS


@dataclass(frozen=True)
class Round:
    """The two states in the middle of a run, and a schedule for them."""

    job_state: JobState
    cluster_state: ClusterState
    schedule: Schedule


@st.composite
def rounds(draw, resized=True):
    """`resized`: jobs may hold, or be granted, another number of GPUs than they ask for."""
    nodes = draw(st.sampled_from(CLUSTERS))
    sizes = draw(st.lists(st.integers(1, min(8, sum(nodes))), min_size=1, max_size=12))
    count = len(sizes)
    job_state = admitted(sizes, min_gpus=np.ones(count, dtype=int), max_gpus=np.full(count, 8))
    cluster_state = ClusterState(ClusterSpec(tuple(Node(f"n{i}", gpus) for i, gpus in enumerate(nodes))))
    free = draw(st.permutations(range(sum(nodes))))
    held = {}
    was_resized = resized and draw(st.integers(0, 3)) == 0
    for row in draw(st.permutations(range(count))):
        size = draw(st.integers(1, 4)) if was_resized else sizes[row]
        if size <= len(free) and draw(st.booleans()):
            held[row], free = tuple(sorted(free[:size])), free[size:]
    now = Allocation.from_dict(held)
    if held:
        job_state.start(now.jobs, now.counts, 1.0, 0.0)
    cluster_state.holdings.replace(now)
    schedule = Schedule.ordered(
        job_state,
        by=np.array(draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))),
        strict=draw(st.booleans()),
        preempt=draw(st.booleans()),
    )
    if draw(st.booleans()):
        listed = np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), dtype=bool)
        schedule = replace(schedule, jobs=schedule.jobs[listed], keys=(schedule.keys[0][listed],))
    if resized and draw(st.integers(0, 3)) == 0:
        grants = draw(st.lists(st.integers(1, 4), min_size=len(schedule.jobs), max_size=len(schedule.jobs)))
        schedule = replace(schedule, gpus=np.minimum(np.array(grants, dtype=np.int64), sum(nodes)))
    return Round(job_state, cluster_state, schedule)
