"""A row order is a list from which any row may leave."""

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blox.state.row_order import RowOrder
from support.examples import examples

# How many rows come and how many go, which ones, and whether the order is listed afterwards.
STEP = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 2**32 - 1), st.booleans())
STEPS = st.integers(0, 60).flatmap(lambda count: st.lists(STEP, min_size=count, max_size=count))


@examples(200)
@given(st.lists(st.integers(0, 40), unique=True, max_size=5), STEPS)
def test_it_is_a_list(first, steps):
    order, plain = RowOrder(np.array(first, dtype=np.int64)), list(first)
    for coming, going, seed, listed in steps:
        pick = random.Random(seed).sample
        absent = [row for row in range(200) if row not in plain]
        come = pick(absent, min(coming, len(absent)))
        order.join(np.array(come, dtype=np.int64))
        plain += come
        if plain:
            go = pick(plain, min(going, len(plain)))
            order.leave(np.array(go, dtype=np.int64))
            plain = [row for row in plain if row not in go]
        if listed:  # it need not have been listed in between
            assert order.rows.tolist() == plain
    twin = order.copy()
    order.join(np.array([1000]))
    assert twin.rows.tolist() == plain
    assert order.rows.tolist() == [*plain, 1000]


def test_what_was_asked_for_stays_as_it_was():
    order = RowOrder(np.array([3, 1, 2]))
    before = order.rows
    order.leave(np.array([1]))
    order.join(np.array([7]))
    assert before.tolist() == [3, 1, 2]
    assert order.rows.tolist() == [3, 2, 7]
