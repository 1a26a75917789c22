"""The fast placements choose the jobs that the walk of the contract chooses."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from blox.placement.consolidated import Consolidated
from blox.placement.first_free import FirstFree
from blox.placement.walk.by_node import NodePool, place_by_node
from blox.placement.walk.counting import place_by_count
from blox.schedulers.tiresias.sorted_places import SortedPlaces
from blox.state.cluster import ClusterState
from blox.state.cluster_spec import ClusterSpec, Node
from blox.state.line import ActiveLine
from blox.state.plan import Allocation
from blox.state.schedule import Schedule
from support.examples import examples
from support.mid_run import Round, rounds
from support.reference_walk import first_free, per_node, walk
from support.states import admitted, placed

EXAMPLES = examples(250)


def chosen(plan, case):
    return sorted(outcome(plan, case))


def outcome(plan, case):
    return placed(plan, case.cluster_state).as_dict()


@EXAMPLES
@given(rounds())
def test_counting_chooses_the_same_jobs_as_walking(case):
    states = case.schedule, case.cluster_state, case.job_state
    walked = sorted(walk(*states, first_free))
    counted, by_node = place_by_count(*states), place_by_node(*states, FirstFree())
    assert chosen(counted, case) == walked
    assert chosen(by_node, case) == walked
    assert counted.blocked == by_node.blocked, "whether a strict order ended at a job that found no place"


@EXAMPLES
@given(rounds(resized=False), st.integers(2, 12))
def test_a_line_that_knows_what_is_contested_decides_as_the_whole_line(case, most):
    """A line that is kept sorted names the jobs that matter, unless they are more than `most`."""
    jobs, cluster_state = case.job_state, case.cluster_state
    places, held = SortedPlaces(), jobs.columns.held_gpus
    order = case.schedule.jobs[case.schedule.order].tolist()
    for place, row in enumerate(order):
        places.put(row, place, waits=not held[row])

    def keys(job_state):
        return (np.array([order.index(row) for row in job_state.active.tolist()]),)

    def contested(job_state, free):
        return places.contested(job_state.scalars.held_gpus, job_state.scalars.gpus, free, most)

    assume(len(order) == jobs.active_count)
    line = ActiveLine(jobs, keys, contested)
    found = place_by_count(Schedule(line=line), cluster_state, jobs)
    plain = place_by_count(Schedule.ordered(jobs, by=keys(jobs)), cluster_state, jobs)
    now = cluster_state.allocation
    assert found.outcome(now).as_dict() == plain.outcome(now).as_dict()
    assert chosen(found, case) == sorted(walk(Schedule(line=line), cluster_state, jobs, first_free))


@EXAMPLES
@given(rounds())
def test_first_free_takes_the_lowest_ids_and_leaves_running_jobs_alone(case):
    wanted = outcome(place_by_count(case.schedule, case.cluster_state, case.job_state), case)
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
    wanted = outcome(rule.place(case.schedule, cluster_state, case.job_state), case)
    pool = NodePool(cluster_state.node_gpus, cluster_state.node_gpus)
    for row, gpus in wanted.items():
        if fallback == "wait" and before.get(row) != gpus:
            assert len(per_node(cluster_state, gpus)) <= pool.fewest(len(gpus))


@EXAMPLES
@given(rounds(), st.sampled_from(["wait", "spread"]))
def test_consolidated_is_the_walk_node_by_node(case, fallback):
    rule, choose = consolidated(fallback, case)
    states = case.schedule, case.cluster_state, case.job_state
    wanted = outcome(rule.place(*states), case)
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
        plan = rule.place(schedule, case.cluster_state, case.job_state)
        found = {row: per_node(case.cluster_state, gpus) for row, gpus in outcome(plan, case).items()}
        assert found == expected, f"round {step}"
        for stopped in (plan.suspend, plan.move.jobs):
            if len(stopped):
                case.job_state.stop(stopped, case.job_state.now)
        for grants in (plan.launch, plan.move):
            if len(grants.jobs):
                case.job_state.start(grants.jobs, grants.counts, 1.0, 0.0)
        case.cluster_state.holdings.apply(plan)


def middle_of_a_run(nodes, gpus, held, keys):
    """Jobs by their GPUs, some of which hold some, in the order of their keys."""
    job_state = admitted(gpus)
    cluster_state = ClusterState(ClusterSpec(tuple(Node(f"n{i}", size) for i, size in enumerate(nodes))))
    now = Allocation.from_dict(held)
    job_state.start(now.jobs, now.counts, 1.0, 0.0)
    cluster_state.holdings.replace(now)
    return Round(job_state, cluster_state, Schedule.ordered(job_state, by=np.array(keys)))


def test_a_job_of_two_nodes_is_tried_after_one_that_found_no_node_to_itself():
    """3 GPUs are free on each of two nodes: a job of 4 needs one node, a job of 6 takes two."""
    case = middle_of_a_run((4, 4), [1, 1, 4, 6], {0: (0,), 1: (4,)}, [0, 0, 1, 2])
    wanted = Consolidated().place(case.schedule, case.cluster_state, case.job_state)
    assert outcome(wanted, case) == {0: (0,), 1: (4,), 3: (1, 2, 3, 5, 6, 7)}


def test_a_job_is_not_stopped_for_one_that_finds_no_place_all_the_same():
    held = {0: (0,), 1: (4,), 3: (1, 2, 3, 5, 6, 7)}
    case = middle_of_a_run((4, 4), [1, 1, 4, 6], held, [0, 0, 1, 2])
    wanted = Consolidated().place(case.schedule, case.cluster_state, case.job_state)
    assert outcome(wanted, case) == held


@EXAMPLES
@given(rounds(), st.sampled_from(["first-free", "wait", "spread"]))
def test_no_running_job_is_stopped_or_moved_for_nothing(case, name):
    """Whoever is displaced makes room for a job that is ahead of it in the order."""
    placement = FirstFree() if name == "first-free" else Consolidated(name)
    before = case.cluster_state.allocation.as_dict()
    wanted = outcome(placement.place(case.schedule, case.cluster_state, case.job_state), case)
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
