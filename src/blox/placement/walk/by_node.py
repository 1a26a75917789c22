"""Placement by rules that depend on where GPUs are free."""

from __future__ import annotations

from blox.placement.walk.best_fit import BestFitWalk
from blox.placement.walk.node_room import NodeRoom, NodeRule, RuleOfJob
from blox.placement.walk.pinned import place_pinned, with_configurations
from blox.placement.walk.plain import Walk
from blox.placement.walk.requests import Requests
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Plan
from blox.state.schedule import Schedule


def place_by_node(
    schedule: Schedule,
    cluster_state: ClusterState,
    job_state: JobState,
    rule: NodeRule | RuleOfJob,
    *,
    undo: bool = True,
    best_fit: bool = False,
) -> Plan:
    """The contract of placement for rules that depend on where GPUs are free.

    `rule` is the same for all jobs, or a function that names the rule for a job, given its row. `undo=False`
    is how the original Blox does it: jobs released for a job that found no place after all stay released,
    and a released job that is placed again in the same walk restarts. `best_fit`: by the rule, a job that
    fits on one node goes to `pool.best_fit(need)` or nowhere, so that the walk can be shorter.
    """
    if schedule.pinned is not None:
        return place_pinned(schedule, cluster_state, job_state)
    requests = Requests(schedule, cluster_state, job_state)
    if requests.hopeless:
        plan = requests.unplaced()
    else:
        room = NodeRoom(requests, cluster_state, job_state, rule, best_fit)
        if room.best_fit and undo:
            plan = BestFitWalk(requests, cluster_state.gpu_node, room).run()
        else:
            plan = Walk(requests, cluster_state.gpu_node, room, undo=undo).run()
    return plan if schedule.config is None else with_configurations(plan, schedule, cluster_state)


def same_rule(self: NodeRule, cluster_state: ClusterState, job_state: JobState) -> RuleOfJob:
    """The `node_rule()` of a placement that is itself the rule for every job: `node_rule = same_rule`."""
    return lambda row: self
