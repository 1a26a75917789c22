"""The pool of nodes finds the best fit whatever the nodes' sizes, those beyond a byte included."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from blox.placement.walk.by_node import NodePool
from support.examples import examples

SIZES = st.lists(st.one_of(st.integers(1, 8), st.integers(250, 600)), min_size=1, max_size=6)


@examples(250)
@given(SIZES, st.data())
def test_the_best_fit_is_the_fullest_node_with_room_the_lowest_id_first(sizes, data):
    pool = NodePool(np.array(sizes), np.array(sizes))
    for _ in range(8):
        node = data.draw(st.integers(0, len(sizes) - 1))
        free = data.draw(st.integers(0, sizes[node]))
        pool.take(0, node, pool.free[node] - free)
        need = data.draw(st.integers(1, max(sizes)))
        fits = [(free, node) for node, free in enumerate(pool.free) if free >= need]
        assert pool.best_fit(need) == (min(fits)[1] if fits else -1)
        assert pool.best_fit(np.int64(need)) == pool.best_fit(need)
        assert pool.total == sum(pool.free)


def test_rules_read_free_gpus_as_whole_numbers_of_their_own():
    """What a rule computes from them may be below 0, and what it changes is not the pool."""
    pool = NodePool(np.array([3, 8]), np.array([8, 8]))
    spare = np.asarray(pool.free) - 4
    assert spare.tolist() == [-1, 4]
    spare[1] = 0
    free = np.asarray(pool.free)
    free[0] = 7
    assert list(pool.free) == [3, 8]


def test_the_sizes_of_a_restricted_pool_are_those_of_the_nodes_that_a_job_may_use():
    pool = NodePool(np.array([3, 8, 0]), np.array([8, 8, 4]))
    assert pool.sizes == [8, 8, 4]
    pool.take(0, 1, 8)
    assert pool.sizes == [8, 8, 4]
    assert pool.restricted(np.array([True, False, True])).sizes == [8, 0, 4]
