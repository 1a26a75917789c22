"""ChangeLog: what readers get of the rows that changed."""

import numpy as np

from blox.state.change_log import ChangeLog


def rows(*numbers):
    return np.array(numbers)


def entries(found):
    return None if found is None else [each.tolist() for each in found]


def test_a_reader_that_begins_examines_all_jobs_then_gets_what_follows():
    log = ChangeLog()
    log.note(rows(0))
    assert log.since(0) is None
    position = log.end
    log.note(rows(1, 2))
    log.note(rows(3))
    assert entries(log.since(position)) == [[1, 2], [3]]
    assert entries(log.since(log.end)) == []


def test_nothing_is_kept_before_the_first_reader():
    log = ChangeLog()
    for row in range(10):
        log.note(rows(row))
    assert log.end == ChangeLog().end


def test_a_second_reader_that_begins_later_examines_all_jobs():
    log = ChangeLog()
    assert log.since(0) is None
    log.note(rows(5))
    assert log.since(0) is None


def test_a_reader_that_stays_away_too_long_examines_all_jobs():
    log = ChangeLog()
    log.since(0)
    position = log.end
    for _ in range(20_000):
        log.note(rows(7))
    assert log.since(position) is None
    assert entries(log.since(log.end - 1)) == [[7]]


def test_a_copy_is_independent():
    log = ChangeLog()
    log.since(0)
    twin = log.copy()
    log.note(rows(1))
    assert twin.end == log.end - 1
    twin.note(rows(2))
    assert entries(log.since(twin.end - 1)) == [[1]]
