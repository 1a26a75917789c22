"""Lines: long keys are sorted as integers, and come out as by a stable sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blox.state.line import _LONG, Line, stable_order
from support.examples import examples

SIZE = _LONG + 500


@pytest.mark.parametrize(
    "key",
    [
        np.arange(SIZE)[::-1] * 300.0,
        np.arange(SIZE) % 7 * 1e5 - 3e5,
        np.where(np.arange(SIZE) % 2, 0.0, -0.0),
        np.where(np.arange(SIZE) % 3, np.inf, -np.inf),
        np.where(np.arange(SIZE) % 5, np.arange(SIZE) % 11, np.nan),
        1.0 + np.arange(SIZE)[::-1] * np.finfo(float).eps,  # these differ in their last bits only
        -1.0 - np.arange(SIZE)[::-1] * np.finfo(float).eps,
    ],
    ids=["descending", "ties", "two zeros", "infinite", "nan", "last bits", "last bits below 0"],
)
def test_long_keys_are_sorted_as_by_a_stable_sort(key):
    np.testing.assert_array_equal(stable_order(key), np.argsort(key, kind="stable"))


@examples(50)
@given(seed=st.integers(0, 2**32), spread=st.sampled_from([0, 1, 100, 10**9]), scale=st.floats(1e-300, 1e290))
def test_random_long_keys_are_sorted_as_by_a_stable_sort(seed, spread, scale):
    key = np.random.default_rng(seed).integers(-spread, spread + 1, SIZE) * scale
    line = Line(np.arange(SIZE), (key,))
    np.testing.assert_array_equal(line.order, np.argsort(key, kind="stable"))
