"""The journal: what is noted of jobs comes back in order, whatever numbers it was given in."""

import numpy as np
import pytest

from blox.recording.journal import Journal, Kind
from blox.recording.stints import Stints
from blox.state.plan import Allocation


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32])
def test_times_of_their_own_come_back_as_they_were(dtype):
    """Two jobs start at 0 and end at 3 and 7; one of them starts again at 9, a whole number, and goes on."""
    journal = Journal()
    journal.start(Kind.LAUNCH, Allocation.from_dict({4: (0, 1), 5: (2,)}), 0.0)
    journal.note(Kind.FINISH, np.array([4, 5]), np.array([3, 7], dtype=dtype))
    journal.start(Kind.LAUNCH, Allocation.from_dict({5: (0,)}), 9)
    happened = journal.read()
    assert journal.size == len(happened.kind) == 3
    assert happened.time_s.tolist() == [0.0, 0.0, 3.0, 7.0, 9.0]
    stints = Stints.of(happened, 20.0)
    assert stints.job.tolist() == [4, 5, 5]
    assert stints.end_s.tolist() == [3.0, 7.0, 20.0]
    assert stints.table()["gpu"].tolist() == [0, 1, 2, 0]


def test_nothing_noted_is_nothing_happened():
    happened = Journal().read()
    assert not len(happened.job) and not len(Stints.of(happened, 5.0).job)
