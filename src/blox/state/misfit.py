"""Misfit: why an allocation cannot be carried out. Its GPUs must exist, be up, and go to one job each, or to
two that share them.

The guard asks this of what a policy from outside returns, the manager of every allocation that it is to carry
out, built-in policies included. `Holdings` refuses GPUs that are not free by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from blox.state.cluster import WHOLE, ClusterState
from blox.state.columns import ADMITTED, alike
from blox.state.holdings import NotFree
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.table import Array


class Misfit(NamedTuple):
    """What is wrong with an allocation, and how to mend it."""

    what: str
    fix: str


def misfit(wanted: Allocation, cluster_state: ClusterState, job_state: JobState) -> Misfit | None:
    """The first thing that is wrong with the GPUs of an allocation; None if it can be carried out."""
    gpus, size = wanted.gpus, len(cluster_state.gpu_node)
    if fault := misshapen(wanted):
        return fault
    if not len(gpus):
        return None
    if fault := _not_active(wanted.jobs, job_state):
        return fault
    if int(gpus.min()) < 0 or int(gpus.max()) >= size:
        missing = int(gpus[np.argmax((gpus < 0) | (gpus >= size))])
        return Misfit(
            f"{_owner(missing, wanted, job_state)} gets GPU {missing}, and there are GPUs 0 to {size - 1}",
            "choose from cluster_state.free_ids()",
        )
    return _closed(wanted, cluster_state, job_state) or _stacked(wanted, size, job_state)


def misshapen(wanted: Allocation) -> Misfit | None:
    """Columns of an allocation that do not go together; None if they do."""
    jobs, counts, gpus = len(wanted.jobs), wanted.counts, len(wanted.gpus)
    total = int(counts.sum())
    if jobs == len(counts) and total == gpus and not (counts < 0).any():
        return None
    return Misfit(
        f"the Allocation has {jobs} jobs, {len(counts)} counts that add up to {total}, and {gpus} GPU ids",
        "one count per job, and as many GPU ids as the counts add up to; or use Allocation.from_dict",
    )


def unusable(rows: Array, counts: Array, job_state: JobState) -> Misfit | None:
    """The first of these jobs that cannot use so many GPUs; None if all can."""
    c, asked = job_state.columns, job_state.columns.gpus[rows]
    if alike(counts, asked):
        return None
    wrong: Array = (counts < c.min_gpus[rows]) | (counts > c.max_gpus[rows])
    wrong &= counts != asked
    if not wrong.any():
        return None
    row, count = int(rows[np.argmax(wrong)]), int(counts[np.argmax(wrong)])
    return Misfit(
        f"{job_named(row, job_state)} gets {count} GPUs, and can use {int(c.min_gpus[row])} to "
        f"{int(c.max_gpus[row])}",
        "give a job all that it asks for, or what it can use, or nothing",
    )


def not_free(fault: NotFree, cluster_state: ClusterState, job_state: JobState) -> Misfit:
    """What is wrong with a plan that `Holdings` refuses."""
    size = len(cluster_state.gpu_node)
    why = "which is not free" if 0 <= fault.gpu < size else f"and there are GPUs 0 to {size - 1}"
    return Misfit(
        f"{job_named(fault.row, job_state)} gets GPU {fault.gpu}, {why}",
        "place jobs on free GPUs, or on those of jobs that give them up",
    )


def _not_active(rows: Array, job_state: JobState) -> Misfit | None:
    """A row that is no job, or a job that is not active."""
    known = (rows >= 0) & (rows < job_state.submitted)
    if not known.all():
        return Misfit(f"row {rows[np.argmin(known)]} gets GPUs, and is no job", "place active jobs only")
    idle: Array = job_state.columns.status[rows] != ADMITTED
    if not idle.any():
        return None
    name = job_named(int(rows[np.argmax(idle)]), job_state)
    return Misfit(f"{name} gets GPUs, and is not active (admitted and unfinished)", "place active jobs only")


def _closed(wanted: Allocation, cluster_state: ClusterState, job_state: JobState) -> Misfit | None:
    """A GPU of a node that takes no jobs; a job that is on a draining node may stay there."""
    if cluster_state.node_up.all():
        return None
    closed: Array = ~cluster_state.node_up[cluster_state.gpu_node[wanted.gpus]]
    if cluster_state.draining and closed.any():
        draining = cluster_state.node_draining[cluster_state.gpu_node[wanted.gpus]]
        now, owner = cluster_state.allocation, np.repeat(wanted.jobs, wanted.counts)
        for place in (closed & draining).nonzero()[0].tolist():
            closed[place] = wanted.gpus[place] not in now.gpus_of(int(owner[place]))
    if not closed.any():
        return None
    gpu = int(wanted.gpus[np.argmax(closed)])
    number = int(cluster_state.gpu_node[gpu])
    node, state = cluster_state.node_name[number], cluster_state.node_state(number)
    return Misfit(
        f"{_owner(gpu, wanted, job_state)} gets GPU {gpu} of {node}, which is {state}",
        "choose from cluster_state.free_ids(); cluster_state.node_up says which nodes are up",
    )


def _stacked(wanted: Allocation, size: int, job_state: JobState) -> Misfit | None:
    """A GPU that more jobs hold than may: two that name one another share it, others have it alone."""
    if (share := wanted.share_milli) is not None and not ((share > 0) & (share <= WHOLE)).all():
        place = int(np.argmin((share > 0) & (share <= WHOLE)))
        return Misfit(
            f"{job_named(int(wanted.jobs[place]), job_state)} gets {share[place]} thousandths of each GPU",
            f"share_milli is above 0, and {WHOLE} for the whole GPU",
        )
    times = np.bincount(wanted.gpus, minlength=size)
    if int(times.max()) <= 1:
        return None
    owner = np.repeat(wanted.jobs, wanted.counts)
    wrong = _not_partners(wanted, owner, times)
    if share is not None:
        held = np.bincount(wanted.gpus, weights=np.repeat(share, wanted.counts), minlength=size)
        wrong |= (times > 1) & (held > WHOLE)
    if not wrong.any():
        return None
    gpu = int(np.argmax(wrong))
    some = " and ".join(job_named(row, job_state) for row in owner[wanted.gpus == gpu].tolist()[:2])
    return Misfit(
        f"GPU {gpu} is given to {some}",
        "a GPU goes to one job: take those that running jobs keep, and those already chosen, "
        "out of the free ones; two jobs share their GPUs if share_group names each to the other",
    )


def _not_partners(wanted: Allocation, owner: Array, times: Array) -> Array:
    """Which GPUs are held by several jobs that are not two which name one another."""
    wrong: Array = times > 2
    pair = (times == 2)[wanted.gpus].nonzero()[0]
    if wanted.share_group is None:
        wrong[wanted.gpus[pair]] = True
        return wrong
    pair = pair[np.argsort(wanted.gpus[pair], kind="stable")]
    partner = np.repeat(wanted.share_group, wanted.counts)
    one, other = pair[0::2], pair[1::2]
    named = (partner[one] == owner[other]) & (partner[other] == owner[one]) & (owner[one] != owner[other])
    wrong[wanted.gpus[one[~named]]] = True
    return wrong


def job_named(row: int, job_state: JobState) -> str:
    """A job as messages name it."""
    return f"job {job_state.columns.job_id[row]!r}"


def _owner(gpu: int, wanted: Allocation, job_state: JobState) -> str:
    return job_named(int(np.repeat(wanted.jobs, wanted.counts)[wanted.gpus == gpu][0]), job_state)
