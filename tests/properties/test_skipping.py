"""Passing rounds over changes nothing: not a job, not a round, not a figure, not a bit."""

import dataclasses
import math

from hypothesis import given
from hypothesis import strategies as st

from blox.loop import execute_round
from blox.protocols import promise_of
from blox.state.plan import Plan
from support.examples import examples
from support.same_results import same
from support.worlds import SCHEDULERS, World, worlds

EXAMPLES = examples(400)


@EXAMPLES
@given(worlds(clocks=("rounds",)))
def test_skip_equals_no_skip_bit_for_bit(world):
    skipped, executed = world.run(skip=True), world.run(skip=False)
    same(skipped, executed)
    assert skipped.timing["rounds_executed"] <= executed.timing["rounds_executed"]


TODAY = (
    *("drf", "drf:by=user", "queues", "fairtree:half_life=1h", "multifactor:fairshare=1000,age=100"),
    *("backfill", "backfill:depth=2", "backfill:kind=conservative", "backfill:kind=conservative,depth=3"),
    *("backfill:order=fairtree:half_life=2h", "backfill:kind=conservative,order=srtf"),
)


@EXAMPLES
@given(worlds(clocks=("rounds",), schedulers=TODAY), st.sampled_from([1.0, 12.0]))
def test_skip_equals_no_skip_for_the_schedulers_of_todays_clusters(world, longer):
    """With quiet times in between, in which what they remember of users and promises must stay the same."""
    jobs = tuple((*job[:3], job[3] * longer, *job[4:]) for job in world.jobs)
    world = dataclasses.replace(world, jobs=jobs)
    same(world.run(skip=True), world.run(skip=False))


@examples(1000)
@given(worlds(schedulers=(*SCHEDULERS, *TODAY)))
def test_asking_again_at_once_changes_nothing_where_that_is_promised(world):
    """After a settled plan, if every part promises to decide the same for a while: what skipping rests on."""
    prepared = world.experiment().prepare()
    cluster_state, job_state = prepared.states()
    backend = prepared.backend()
    manager, parts = prepared.manager(backend), prepared.composition
    policies = parts.admission, parts.scheduler, parts.placement
    while not manager.terminate and manager.rounds < 300:
        plan = execute_round(manager, cluster_state, job_state, *policies)
        stable = min(promise_of(part)(job_state, cluster_state) for part in (*policies, parts.termination))
        if plan.settled and stable > manager.now and not manager.terminate:
            jobs, cluster = job_state.fork(), cluster_state.fork()
            again = parts.placement.place(parts.scheduler.schedule(jobs, cluster), cluster, jobs)
            assert Plan.diff(cluster.allocation, again).empty
        manager.next_round(cluster_state, job_state, stable if manager.event_driven else -math.inf)
    backend.close()


def test_a_promise_that_misses_a_boundary_by_a_rounding_error():
    """7.7 s have no exact binary form: the time at which two jobs are level is off by the last bit."""
    sizes = (("a", 3, 69.3), ("b", 1, 23.1), ("c", 1, 69.3))
    jobs = tuple((name, 0.0, gpus, seconds, "", "", "", "", 0) for name, gpus, seconds in sizes)
    world = World(jobs, (3,), scheduler="las:strict=true", overheads="launch=0.77,restart=1.1", round_s=7.7)
    for placement in ("consolidated", "first-free"):
        world = dataclasses.replace(world, placement=placement)
        same(world.run(skip=True), world.run(skip=False))


def test_rounds_are_passed_over_at_all():
    job = ("long", 0.0, 1, 30_000.0, "", "", "", "", 0)
    world = World((job, ("late", 20_000.0, 1, 10.0, "", "", "", "", 0)), (2,), scheduler="las")
    skipped, executed = world.run(skip=True), world.run(skip=False)
    same(skipped, executed)
    assert executed.timing["rounds_executed"] > 100
    assert skipped.timing["rounds_executed"] < 10
    assert dataclasses.replace(world, scheduler="fifo").run().timing["rounds_executed"] < 10
