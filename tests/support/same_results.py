"""Two results are equal to the last bit."""

import numpy as np


def same(one, other):
    for table in ("jobs", "rounds", "stints"):
        ours, theirs = getattr(one, table), getattr(other, table)
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=f"{table}.{name}")
    assert one.summary == other.summary
