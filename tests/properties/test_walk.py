"""The fast placements choose the jobs that the walk of the contract chooses."""

from unittest.mock import patch

import numpy as np
from blox.placement.walk.by_count import place_by_count
from blox.placement.walk.node_pool import NodePool
from hypothesis import given
from hypothesis import strategies as st

from blox.placement.consolidated import Consolidated
from blox.placement.first_free import FirstFree
from blox.placement.walk import by_count, few_waiting
from blox.placement.walk.by_node import place_by_node
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec, Node
from blox.state.plan import Allocation, Plan
from blox.state.schedule import Schedule
from support.examples import examples
from support.mid_run import Round, rounds
from support.reference_walk import first_free, per_node, walk
from support.states import admitted

EXAMPLES = examples(250)


def chosen(wanted):
    return sorted(wanted.as_dict())


@EXAMPLES
@given(rounds())
def test_counting_chooses_the_same_jobs_as_walking(case):
    states = case.schedule, case.cluster_state, case.job_state
    walked = sorted(walk(*states, first_free))
    assert chosen(place_by_count(*states)) == walked
    assert chosen(place_by_node(*states, FirstFree())) == walked


@EXAMPLES
@given(rounds(), st.integers(2, 8))
def test_a_part_of_the_line_is_enough_where_few_wait(case, few):
    """The same when so few are few that small rounds bring every branch into play."""
    states = case.schedule, case.cluster_state, case.job_state
    with patch.object(by_count, "SHORT_LINE", few), patch.object(few_waiting, "SHORT_LINE", few):
        found = place_by_count(*states)
    assert chosen(found) == sorted(walk(*states, first_free))
    assert found.as_dict() == place_by_count(*states).as_dict()


@EXAMPLES
@given(rounds())
def test_first_free_takes_the_lowest_ids_and_leaves_running_jobs_alone(case):
    wanted = place_by_count(case.schedule, case.cluster_state, case.job_state).as_dict()
    before = case.cluster_state.allocation.as_dict()
    new = {row for row, gpus in wanted.items() if before.get(row) != gpus}
    assert not {row for row in new & before.keys() if len(before[row]) == len(wanted[row])}
    kept = {gpu for row, gpus in wanted.items() if row not in new for gpu in gpus}
    free = [gpu for gpu in range(len(case.cluster_state.gpu_node)) if gpu not in kept]
    taken = sorted(gpu for row in new for gpu in wanted[row])
    assert taken == free[: len(taken)]


def consolidated(fallback, case):
    rule = Consolidated(fallback)
    sizes = case.cluster_state.node_gpus

    def choose(free, need):
        shares = rule.choose(NodePool(np.array(free), sizes), need)
        return None if shares is None else dict(shares)

    return rule, choose


@EXAMPLES
@given(rounds(), st.sampled_from(["wait", "spread"]))
def test_consolidated_places_on_no_more_nodes_than_allowed(case, fallback):
    rule, _ = consolidated(fallback, case)
    cluster_state = case.cluster_state
    before = cluster_state.allocation.as_dict()
    wanted = rule.place(case.schedule, cluster_state, case.job_state).as_dict()
    pool = NodePool(cluster_state.node_gpus, cluster_state.node_gpus)
    for row, gpus in wanted.items():
        if fallback == "wait" and before.get(row) != gpus:
            assert len(per_node(cluster_state, gpus)) <= pool.fewest(len(gpus))


@EXAMPLES
@given(rounds(), st.sampled_from(["wait", "spread"]))
def test_consolidated_is_the_walk_node_by_node(case, fallback):
    rule, choose = consolidated(fallback, case)
    states = case.schedule, case.cluster_state, case.job_state
    wanted = rule.place(*states).as_dict()
    found = {row: per_node(case.cluster_state, gpus) for row, gpus in wanted.items()}
    assert found == walk(*states, choose)


def test_a_long_queue_is_walked_like_a_short_one():
    """Longer than the part of the order that is sorted at first; each round from the last outcome."""
    rng = np.random.default_rng(7)
    sizes = rng.choice([1, 2, 3, 4, 8, 16], p=[0.5, 0.1, 0.1, 0.15, 0.1, 0.05], size=1500)
    case = middle_of_a_run((8,) * 40, sizes, {0: tuple(range(sizes[0]))}, np.zeros(1500))
    for step in range(12):
        case.job_state.now += 300.0
        schedule = Schedule.ordered(
            case.job_state, by=case.job_state.gpu_seconds() + rng.integers(0, 3, 1500)
        )
        rule, choose = consolidated("wait", case)
        expected = walk(schedule, case.cluster_state, case.job_state, choose)
        wanted = rule.place(schedule, case.cluster_state, case.job_state)
        found = {row: per_node(case.cluster_state, gpus) for row, gpus in wanted.as_dict().items()}
        assert found == expected, f"round {step}"
        plan = Plan.diff(case.cluster_state.allocation, wanted)
        for stopped in (plan.suspend, plan.move.jobs):
            if len(stopped):
                case.job_state.stop(stopped, case.job_state.now)
        for grants in (plan.launch, plan.move):
            if len(grants.jobs):
                case.job_state.start(grants.jobs, grants.counts, 1.0, 0.0)
        case.cluster_state.carry_out(wanted)


def middle_of_a_run(nodes, gpus, held, keys):
    """Jobs by their GPUs, some of which hold some, in the order of their keys."""
    job_state = admitted(gpus)
    cluster_state = ClusterState(ClusterSpec(tuple(Node(f"n{i}", size) for i, size in enumerate(nodes))))
    now = Allocation.from_dict(held)
    job_state.start(now.jobs, now.counts, 1.0, 0.0)
    cluster_state.carry_out(now)
    return Round(job_state, cluster_state, Schedule.ordered(job_state, by=np.array(keys)))


def test_a_job_of_two_nodes_is_tried_after_one_that_found_no_node_to_itself():
    """3 GPUs are free on each of two nodes: a job of 4 needs one node, a job of 6 takes two."""
    case = middle_of_a_run((4, 4), [1, 1, 4, 6], {0: (0,), 1: (4,)}, [0, 0, 1, 2])
    wanted = Consolidated().place(case.schedule, case.cluster_state, case.job_state)
    assert wanted.as_dict() == {0: (0,), 1: (4,), 3: (1, 2, 3, 5, 6, 7)}


def test_a_job_is_not_stopped_for_one_that_finds_no_place_all_the_same():
    held = {0: (0,), 1: (4,), 3: (1, 2, 3, 5, 6, 7)}
    case = middle_of_a_run((4, 4), [1, 1, 4, 6], held, [0, 0, 1, 2])
    wanted = Consolidated().place(case.schedule, case.cluster_state, case.job_state)
    assert wanted.as_dict() == held


@EXAMPLES
@given(rounds(), st.sampled_from(["first-free", "wait", "spread"]))
def test_no_running_job_is_stopped_or_moved_for_nothing(case, name):
    """Whoever is displaced makes room for a job that is ahead of it in the order."""
    placement = FirstFree() if name == "first-free" else Consolidated(name)
    before = case.cluster_state.allocation.as_dict()
    wanted = placement.place(case.schedule, case.cluster_state, case.job_state).as_dict()
    order = case.schedule.jobs[case.schedule.order].tolist()
    new = [place for place, row in enumerate(order) if row in wanted and before.get(row) != wanted[row]]
    grants = (
        case.schedule.gpus
        if case.schedule.gpus is not None
        else case.job_state.columns.gpus[case.schedule.jobs]
    )
    need = dict(zip(case.schedule.jobs.tolist(), grants.tolist()))
    for place, row in enumerate(order):
        unchanged = row in before and len(before[row]) == need[row]
        if unchanged and wanted.get(row) != before[row]:
            assert case.schedule.preempt
            assert any(other < place for other in new)
