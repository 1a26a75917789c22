"""A ledger that is changed in place says what one says that is made anew, in whatever order it is asked."""

import numpy as np
import pytest
from blox.state.ledger import Ledger
from blox.state.roster import Roster

QUESTIONS = ("owner", "jobs", "free", "lowest", "nodes", "largest", "held")


def fresh(owner, rows, per_node):
    nodes = len(owner) // per_node
    return Ledger(
        owner.copy(),
        Roster(np.array(rows, dtype=np.int64)),
        np.repeat(np.arange(nodes), per_node),
        np.arange(nodes) * per_node,
        np.full(nodes, per_node),
    )


def ask(ledger, question, rows):
    if question == "owner":
        return ledger.owner.tolist()
    if question == "jobs":
        return ledger.jobs.tolist()
    if question == "free":
        return ledger.free_ids.tolist()
    if question == "lowest":
        return ledger.lowest_free(5, np.array([], dtype=np.int64)).tolist()
    if question == "nodes":
        return ledger.node_free.tolist()
    if question == "largest":
        return ledger.largest_free, ledger.idle_gpus
    some = np.array(rows[::3], dtype=np.int64)
    return ledger.held_by(some, 10_000).tolist(), [ledger.gpus_of(row).tolist() for row in rows[:3]]


@pytest.mark.parametrize("size", [64, 2048])
@pytest.mark.parametrize("most", [1, 3, 30])
@pytest.mark.parametrize("seed", range(4))
def test_it_says_what_a_new_one_says(seed, most, size):
    """`most`: how many jobs come or leave at a time."""
    rng = np.random.default_rng(seed)
    owner = np.full(size, -1)
    rows: list[int] = []
    ledger, next_row = fresh(owner, rows, 8), 0
    for step in range(400):
        if rng.random() < 0.55:
            free = np.flatnonzero(owner < 0)
            counts = rng.choice([1, 2, 4, 8, 40], rng.integers(1, most + 1))
            counts = counts[np.cumsum(counts) <= len(free)]
            if not len(counts):
                continue
            if rng.random() < 0.5:
                free = rng.permutation(free)
            gpus = free[: counts.sum()]
            new = np.arange(next_row, next_row + len(counts))
            next_row += len(counts)
            ledger.occupy(new, counts, gpus)
            owner[gpus] = np.repeat(new, counts)
            rows += new.tolist()
        elif rows:
            gone = rng.choice(rows, min(len(rows), rng.integers(1, most + 1)), replace=False)
            if len(gone) == 1:
                assert ledger.release_one(gone.item()) == (owner == gone).sum()
            else:
                ledger.release(gone, np.flatnonzero(np.isin(owner, gone)))
            owner[np.isin(owner, gone)] = -1
            rows = [row for row in rows if row not in gone]
        plain = fresh(owner, rows, 8)
        for question in rng.choice(QUESTIONS, rng.integers(0, 3), replace=False):
            assert ask(ledger, question, rows) == ask(plain, question, rows), (step, question)
    plain, twin = fresh(owner, rows, 8), ledger.copy()
    for question in QUESTIONS:
        assert ask(ledger, question, rows) == ask(plain, question, rows) == ask(twin, question, rows)
