"""Plan.diff sorts jobs into launch, suspend, move, adjust and keep: a partition, however they came about."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blox.placement.consolidated import Consolidated
from blox.placement.random import Random
from blox.placement.walk.counting import place_by_count
from blox.state.plan import Allocation, Plan
from support.examples import examples
from support.mid_run import rounds

EXAMPLES = examples(250)


@st.composite
def allocations(draw):
    """Rows on GPUs of a small cluster, some with a batch size and a share of memory of their own."""
    free = draw(st.permutations(range(10)))
    gpus_of = {}
    for row in draw(st.lists(st.integers(0, 7), unique=True, max_size=6)):
        count = draw(st.integers(1, 3))
        if count <= len(free):
            gpus_of[row], free = tuple(free[:count]), free[count:]
    plain = Allocation.from_dict(gpus_of)
    column = st.lists(st.integers(1, 2), min_size=len(gpus_of), max_size=len(gpus_of))
    optional = st.one_of(st.none(), column.map(np.array))
    return Allocation(plain.jobs, plain.counts, plain.gpus, config=draw(optional), memory_gb=draw(optional))


def grant(allocation, row):
    place = allocation.jobs.tolist().index(row)
    columns = allocation.grants()
    return tuple(float(columns[name][place]) if name in columns else -1.0 for name in ("config", "memory_gb"))


def check_partition(now, wanted, plan):
    old, new = now.as_dict(), wanted.as_dict()
    parts = {
        "launch": plan.launch.jobs.tolist(),
        "suspend": plan.suspend.tolist(),
        "move": plan.move.jobs.tolist(),
        "adjust": plan.adjust.jobs.tolist(),
        "keep": plan.keep(now).tolist(),
    }
    everybody = [row for part in parts.values() for row in part]
    assert len(everybody) == len(set(everybody)), "every job is in one part"
    assert set(everybody) == old.keys() | new.keys(), "and every job is in some part"
    for row in everybody:
        if row not in old:
            part = "launch"
        elif row not in new:
            part = "suspend"
        elif sorted(old[row]) != sorted(new[row]):
            part = "move"
        elif grant(now, row) != grant(wanted, row):
            part = "adjust"
        else:
            part = "keep"
        assert row in parts[part], (row, part, parts)
    started = {**plan.launch.as_dict(), **plan.move.as_dict()}
    assert {row: sorted(gpus) for row, gpus in started.items()} == {
        row: sorted(new[row]) for row in parts["launch"] + parts["move"]
    }
    given_up = [gpu for row in parts["suspend"] + parts["move"] for gpu in old[row]]
    assert sorted(plan.freed.tolist()) == sorted(given_up)
    assert plan.empty == (len(parts["keep"]) == len(everybody))
    to_launch, to_suspend = plan
    assert set(to_launch) == {*parts["launch"], *parts["move"]}
    assert sorted(to_suspend) == sorted(parts["suspend"] + parts["move"])


@EXAMPLES
@given(allocations(), allocations())
def test_of_allocations_that_have_nothing_to_do_with_each_other(now, wanted):
    check_partition(now, wanted, Plan.diff(now, wanted))


@EXAMPLES
@given(allocations())
def test_of_an_allocation_with_itself(now):
    assert Plan.diff(now, now).empty
    twin = Allocation(
        now.jobs[::-1],
        now.counts[::-1],
        np.concatenate([now.gpus_of(r) for r in now.jobs[::-1]] or [now.gpus]),
    )
    plain = Allocation(now.jobs, now.counts, now.gpus)
    plan = Plan.diff(plain, twin)
    assert plan.empty and sorted(plan.keep(plain).tolist()) == sorted(now.jobs.tolist()), (
        "order does not matter"
    )


@EXAMPLES
@given(rounds(), st.sampled_from(["count", "random", "wait", "spread"]))
def test_of_what_placements_return_including_resized_jobs(case, name):
    """Derived or compared in full, the plan is the same."""
    states = case.schedule, case.cluster_state, case.job_state
    now = case.cluster_state.allocation
    if name == "count":
        plan = place_by_count(*states)
    else:
        plan = (Random() if name == "random" else Consolidated(name)).place(*states)
    wanted = plan.outcome(now)
    check_partition(now, wanted, plan)
    check_partition(now, wanted, Plan.diff(now, wanted))
