"""Placements that keep only some jobs together go the same walk, and promise no more than they keep."""

import dataclasses

import numpy as np
from hypothesis import given

from blox.placement.consolidated import Consolidated
from blox.placement.fragments import Fragments
from blox.placement.walk.by_node import NodePool, place_by_node
from support.examples import examples
from support.mid_run import rounds
from support.reference_walk import per_node, walk
from support.same_results import same
from support.states import placed
from support.worlds import worlds

SELECTIVE = ("tiresias", "tiresias:rest=spread", "profile", "profile:tolerance=0.4,gbps=10", "fragments")


@examples(400)
@given(rounds())
def test_a_rule_for_each_job_is_walked_to_the_letter(case):
    rules = (Consolidated("wait"), Fragments(), Consolidated("spread"))
    sizes = case.cluster_state.node_gpus

    def choose(row):
        def shares_of(free, need):
            shares = rules[row % 3].choose(NodePool(np.array(free), sizes), need)
            return None if shares is None else dict(shares)

        return shares_of

    states = case.schedule, case.cluster_state, case.job_state
    wanted = placed(place_by_node(*states, lambda row: rules[row % 3]), case.cluster_state).as_dict()
    found = {row: per_node(case.cluster_state, gpus) for row, gpus in wanted.items()}
    assert found == walk(*states, choose, of_row=True)


@examples(400)
@given(worlds(clocks=("rounds",), placements=SELECTIVE))
def test_passing_rounds_over_changes_nothing(world):
    world = dataclasses.replace(world, performance="spread")
    same(world.run(skip=True), world.run(skip=False))
