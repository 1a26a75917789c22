"""Holdings that are changed in place say what new ones say, in whatever order they are asked."""

import numpy as np
import pytest

from blox.state.holdings import Holdings
from blox.state.plan import NO_ROWS, Allocation, Plan

QUESTIONS = ("owner", "jobs", "free", "lowest", "nodes", "largest", "held", "allocation", "counts")


def fresh(gpus_of, size, per_node):
    nodes = size // per_node
    holdings = Holdings(np.repeat(np.arange(nodes), per_node), np.full(nodes, per_node))
    holdings.replace(Allocation.from_dict(gpus_of))
    return holdings


def ask(holdings, question, rows):
    free = holdings.free
    answers = {
        "owner": lambda: holdings.owner.tolist(),
        "jobs": lambda: holdings.jobs.tolist(),
        "free": lambda: free.ids_with(NO_ROWS).tolist(),
        "lowest": lambda: free.lowest(5, NO_ROWS).tolist(),
        "nodes": lambda: free.by_node.tolist(),
        "largest": lambda: (free.largest, free.idle),
        "held": lambda: (
            holdings.held_by(np.array(rows[::3], dtype=np.int64)).tolist(),
            [holdings.gpus_of(row).tolist() for row in rows[:3]],
        ),
        "allocation": lambda: {row: sorted(gpus) for row, gpus in holdings.allocation.as_dict().items()},
        "counts": lambda: (holdings.size, holdings.used),
    }
    return answers[question]()


@pytest.mark.parametrize("size", [64, 2048])
@pytest.mark.parametrize("most", [1, 3, 30])
@pytest.mark.parametrize("seed", range(4))
def test_they_say_what_new_ones_say(seed, most, size):
    """`most`: how many jobs start, stop or end at a time."""
    rng = np.random.default_rng(seed)
    gpus_of: dict[int, tuple[int, ...]] = {}
    holdings, next_row = fresh(gpus_of, size, 8), 0
    for step in range(300):
        rows = list(gpus_of)
        leave = (
            rng.choice(rows, min(len(rows), rng.integers(0, most + 1)), replace=False) if rows else NO_ROWS
        )
        freed = holdings.held_by(leave)
        assert freed.tolist() == sorted(gpu for row in leave.tolist() for gpu in gpus_of[row])
        for row in leave.tolist():
            del gpus_of[row]
        held = {gpu for gpus in gpus_of.values() for gpu in gpus}
        free = np.array([gpu for gpu in range(size) if gpu not in held])
        assert holdings.free.ids_with(freed).tolist() == free.tolist()
        if rng.random() < 0.4 and len(leave):
            holdings.release(leave)
        else:
            counts = rng.choice([1, 2, 4, 8, 40], rng.integers(1, most + 1))
            counts = counts[np.cumsum(counts) <= len(free)]
            gpus = (rng.permutation(free) if rng.random() < 0.5 else free)[: counts.sum()]
            new = np.arange(next_row, next_row + len(counts))
            next_row += len(counts)
            holdings.apply(Plan.of(leave, freed, Allocation(new, counts, gpus)))
            gpus_of |= Allocation(new, counts, gpus).as_dict()
        plain = fresh(gpus_of, size, 8)
        for question in rng.choice(QUESTIONS, rng.integers(0, 3), replace=False):
            assert ask(holdings, question, list(gpus_of)) == ask(plain, question, list(gpus_of)), (
                step,
                question,
            )
    plain, twin, rows = fresh(gpus_of, size, 8), holdings.copy(), list(gpus_of)
    for question in QUESTIONS:
        assert ask(holdings, question, rows) == ask(plain, question, rows) == ask(twin, question, rows)


def test_an_allocation_of_an_earlier_round_stays_as_it_was():
    holdings = fresh({3: (0, 1), 5: (4,)}, 16, 4)
    before, owner = holdings.allocation, holdings.owner
    holdings.release(np.array([3]))
    holdings.apply(Plan(launch=Allocation.from_dict({7: (1, 2)})))
    assert before.as_dict() == {3: (0, 1), 5: (4,)}
    assert holdings.allocation.as_dict() == {5: (4,), 7: (1, 2)}
    assert owner.tolist()[:5] == [-1, 7, 7, -1, 5], "the owners are live"
    with pytest.raises(ValueError):
        owner[0] = 9
    with pytest.raises(ValueError):
        holdings.allocation.gpus[0] = 9
    with pytest.raises(AttributeError):
        before.jobs = NO_ROWS


def test_grants_follow_their_jobs():
    holdings = fresh({}, 8, 4)
    holdings.apply(Plan(launch=Allocation(np.array([1, 2]), np.array([1, 1]), np.array([0, 1]))))
    assert holdings.bare
    adjust = Allocation(np.array([2]), np.array([1]), np.array([1]), cpu=np.array([6.0]))
    holdings.apply(Plan(adjust=adjust))
    assert holdings.allocation.cpu.tolist() == [-1.0, 6.0]
    holdings.apply(
        Plan(
            launch=Allocation(np.array([4]), np.array([1]), np.array([2])),
            suspend=np.array([1]),
            freed=np.array([0]),
        )
    )
    assert (holdings.allocation.jobs.tolist(), holdings.allocation.cpu.tolist()) == ([2, 4], [6.0, -1.0])
    holdings.release(np.array([2]))
    assert holdings.allocation.cpu.tolist() == [-1.0]


def test_gpus_of_a_node_that_is_down_are_not_free():
    holdings = fresh({0: (0, 1), 1: (5,)}, 12, 4)
    assert holdings.free.lowest(3, NO_ROWS).tolist() == [2, 3, 4]
    holdings.free.close(np.array([True, False, True]))
    assert holdings.free.ids_with(NO_ROWS).tolist() == [2, 3, 8, 9, 10, 11]
    holdings.release(np.array([1]))
    assert holdings.free.by_node.tolist() == [2, 0, 4] and holdings.free.largest == 4
    assert holdings.free.lowest(3, holdings.held_by(np.array([0]))).tolist() == [0, 1, 2]
    holdings.free.close(np.array([True, True, True]))
    assert holdings.free.by_node.tolist() == [2, 4, 4]


def test_a_job_keeps_its_gpus_when_a_plan_suspends_the_one_that_shared_them():
    holdings = fresh({}, 8, 4)
    pair = Allocation(
        np.array([1, 2]), np.array([2, 2]), np.array([0, 1, 0, 1]), share_group=np.array([2, 1])
    )
    holdings.replace(pair)
    leaving = np.array([1])
    holdings.apply(Plan.of(leaving, holdings.held_by(leaving)))
    assert (holdings.jobs.tolist(), holdings.gpus_of(2).tolist()) == ([2], [0, 1])
    assert (holdings.used, holdings.free.ids_with(NO_ROWS).tolist()) == (2, [2, 3, 4, 5, 6, 7])


def test_rows_without_gpus_hold_none():
    """Row 3 holds GPUs 0 and 1; row 10 held some and left, rows 4 and 99 never had any."""
    holdings = fresh({3: (0, 1), 10: (2,)}, 8, 8)
    holdings.release(np.array([10]))
    for others in ([4], [10], [4, 99]):
        assert holdings.held_by(np.array([3, *others])).tolist() == [0, 1]
    assert holdings.jobs.tolist() == [3]


def test_a_cluster_without_gpus_holds_nothing():
    holdings = Holdings(NO_ROWS, NO_ROWS)
    holdings.replace(Allocation())
    assert holdings.jobs.tolist() == [] and holdings.held_by(np.array([1, 2])).tolist() == []
