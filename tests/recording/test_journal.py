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
    assert happened.jobs((Kind.LAUNCH,)).tolist() == [4, 5, 5]
    assert happened.times((Kind.LAUNCH,)).tolist() == [0.0, 0.0, 9.0]
    assert happened.times((Kind.FINISH,)).tolist() == [3.0, 7.0]
    stints = Stints.of(happened, 20.0)
    assert stints.job.tolist() == [4, 5, 5]
    assert stints.end_s.tolist() == [3.0, 7.0, 20.0]
    assert stints.table()["gpu"].tolist() == [0, 1, 2, 0]


def test_times_of_their_own_are_told_apart_by_kind():
    journal = Journal()
    journal.start(Kind.LAUNCH, Allocation.from_dict({4: (0,), 5: (1,)}), 0.0)
    journal.note(Kind.FINISH, np.array([4, 5]), np.array([3.0, 7.0]))
    journal.note(Kind.END_WAITING, np.array([6, 7]), np.array([8.0, 9.0]))
    happened = journal.read()
    assert happened.times((Kind.FINISH,)).tolist() == [3.0, 7.0]
    assert happened.times((Kind.END_WAITING,)).tolist() == [8.0, 9.0]
    assert happened.times(Kind.COMPLETED).tolist() == [3.0, 7.0, 8.0, 9.0]


def test_numbers_in_tables_are_64_bits_wide():
    journal = Journal()
    journal.start(Kind.LAUNCH, Allocation.from_dict({4: (0,)}), 0.0)
    table = Stints.of(journal.read(), 5.0).table()
    assert table["job"].dtype == table["gpu"].dtype == np.int64


def test_nothing_noted_is_nothing_happened():
    happened = Journal().read()
    assert not len(happened.job) and not len(Stints.of(happened, 5.0).job)


def test_tens_of_thousands_of_notes_come_back_in_order():
    """Single starts and suspensions of whole groups, far more than are packed at a time."""
    rng, journal = np.random.default_rng(3), Journal()
    started, stopped, held = [], [], []
    for time_s in range(30_000):
        gpus = tuple(rng.integers(0, 2**31, size=int(rng.integers(1, 4))).tolist())
        journal.start(Kind.LAUNCH, Allocation.from_dict({time_s: gpus}), float(time_s))
        started.append(time_s)
        held += gpus
        if time_s % 100 == 99:
            rows = np.arange(time_s - 99, time_s + 1)
            journal.note(Kind.SUSPEND, rows, rows + 0.5)
            stopped += rows.tolist()
    happened = journal.read()
    assert happened.jobs((Kind.LAUNCH,)).tolist() == started == happened.times((Kind.LAUNCH,)).tolist()
    assert happened.jobs((Kind.SUSPEND,)).tolist() == stopped
    assert happened.times((Kind.SUSPEND,)).tolist() == [row + 0.5 for row in stopped]
    stints = Stints.of(happened, 1e6)
    assert stints.end_s.tolist() == [row + 0.5 for row in started]
    assert stints.table()["gpu"].tolist() == held
    assert stints.table()["job"].tolist() == np.repeat(started, happened.counts).tolist()


def test_of_jobs_that_start_again_only_the_last_stint_can_go_on():
    """Drawn at random: each stint must end where its own job ends next, or with the run."""
    rng, journal = np.random.default_rng(4), Journal()
    running: dict[int, int] = {}  # row -> its stint
    ends: list[float] = []
    for time_s in range(2_000):
        row = int(rng.integers(0, 40))
        if row in running:
            journal.note(Kind.EVICT if row % 3 else Kind.FINISH, np.array([row]), float(time_s))
            ends[running.pop(row)] = float(time_s)
        else:
            journal.start(Kind.LAUNCH, Allocation.from_dict({row: (row,)}), float(time_s))
            running[row] = len(ends)
            ends.append(5_000.0)
    assert len(running) > 5
    assert Stints.of(journal.read(), 5_000.0).end_s.tolist() == ends


def test_a_run_that_ends_at_a_whole_number_cuts_no_stint():
    journal = Journal()
    journal.start(Kind.LAUNCH, Allocation.from_dict({0: (0,), 1: (1,)}), 0.5)
    journal.note(Kind.FINISH, np.array([0]), np.array([3.25]))
    assert Stints.of(journal.read(), 20).end_s.tolist() == [3.25, 20.0]
