"""Where few of many jobs wait, a part of the line decides as the whole line would."""

from unittest.mock import patch

import numpy as np
import pytest
from blox.placement.walk.few_waiting import displaced_by_few

from blox.placement.walk import few_waiting
from blox.state.schedule import Schedule
from support.states import admitted


def crowd(seed, kinds, short_of=700):
    """A job state in which most of 700 jobs run, keys of which there are `kinds`, and the number of GPUs."""
    rng = np.random.default_rng(seed)
    gpus = rng.choice([1, 1, 2, 4, 8], 700)
    state = admitted(gpus)
    capacity = int(gpus.sum()) - short_of
    shuffled = rng.permutation(len(gpus))
    running = np.sort(shuffled[gpus[shuffled].cumsum() <= capacity - rng.integers(0, 20)])
    state.start(running, gpus[running], 1.0, 0.0)
    return state, rng.integers(0, kinds, len(gpus)), capacity


def whole_line(state, key, capacity):
    """The same question answered by walking everybody."""
    free, starting, leaving = capacity, [], []
    for row in np.lexsort((state.active, key)).tolist():
        need, holds = int(state.columns.gpus[row]), int(state.columns.held_gpus[row])
        if need <= free:
            free -= need
            starting += [] if holds else [row]
        else:
            leaving += [row] if holds else []
    return starting, state.columns.gpus[starting].tolist(), sorted(leaving) if starting else []


@pytest.mark.parametrize("kinds", [3, 50, 10**6])
@pytest.mark.parametrize("few", [2, 64, 300, 10_000])
@pytest.mark.parametrize("seed", range(6))
def test_it_decides_as_the_whole_line(seed, few, kinds):
    state, key, capacity = crowd(seed, kinds)
    free = capacity - int(state.columns.held_gpus[:700].sum())
    with patch.object(few_waiting, "SHORT_LINE", few):
        found = displaced_by_few(Schedule.ordered(state, by=key), state, free)
    assert found is None or found == whole_line(state, key, capacity)
    assert found is not None or few < 700, "nobody is too many"


def test_the_end_of_the_line_is_looked_at_where_the_first_to_wait_stands_in_front():
    state, key, capacity = crowd(1, 10**6, short_of=60)
    waiting = np.flatnonzero(state.held_gpus == 0)
    key[waiting] = key.max() + 1 + np.arange(len(waiting))
    key[waiting[0]] = -1
    free = capacity - int(state.columns.held_gpus[:700].sum())
    found = displaced_by_few(Schedule.ordered(state, by=key), state, free)
    assert found == whole_line(state, key, capacity)
    assert found is not None and found[0][0] == waiting[0]
