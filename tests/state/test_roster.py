"""A roster is a list from which anybody may leave."""

import numpy as np
from blox.state.roster import Roster
from hypothesis import given
from hypothesis import strategies as st

from support.examples import examples


@examples(200)
@given(st.data())
def test_it_is_a_list(data):
    first = data.draw(st.lists(st.integers(0, 40), unique=True, max_size=5))
    roster, plain = Roster(np.array(first, dtype=np.int64)), list(first)
    for _ in range(data.draw(st.integers(0, 60))):
        absent = [row for row in range(200) if row not in plain]
        come = data.draw(st.lists(st.sampled_from(absent), unique=True, max_size=9))
        roster.join(np.array(come, dtype=np.int64))
        plain += come
        if plain:
            go = data.draw(st.lists(st.sampled_from(plain), unique=True, max_size=9))
            roster.leave(np.array(go, dtype=np.int64))
            plain = [row for row in plain if row not in go]
        if data.draw(st.booleans()):  # nobody need have looked
            assert roster.rows.tolist() == plain
    twin = roster.copy()
    roster.join(np.array([1000]))
    assert twin.rows.tolist() == plain
    assert roster.rows.tolist() == [*plain, 1000]


def test_what_was_asked_for_stays_as_it_was():
    roster = Roster(np.array([3, 1, 2]))
    before = roster.rows
    roster.leave(np.array([1]))
    roster.join(np.array([7]))
    assert before.tolist() == [3, 1, 2]
    assert roster.rows.tolist() == [3, 2, 7]
