"""A row order is a list from which any row may leave."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blox.state.row_order import RowOrder
from support.examples import examples


@examples(200)
@given(st.data())
def test_it_is_a_list(data):
    first = data.draw(st.lists(st.integers(0, 40), unique=True, max_size=5))
    order, plain = RowOrder(np.array(first, dtype=np.int64)), list(first)
    for _ in range(data.draw(st.integers(0, 60))):
        absent = [row for row in range(200) if row not in plain]
        come = data.draw(st.lists(st.sampled_from(absent), unique=True, max_size=9))
        order.join(np.array(come, dtype=np.int64))
        plain += come
        if plain:
            go = data.draw(st.lists(st.sampled_from(plain), unique=True, max_size=9))
            order.leave(np.array(go, dtype=np.int64))
            plain = [row for row in plain if row not in go]
        if data.draw(st.booleans()):  # it need not have been listed in between
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
