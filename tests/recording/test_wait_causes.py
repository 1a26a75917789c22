"""Why jobs wait: what counting GPUs tells, and the log of what policies tell."""

import math

import numpy as np
import pytest

from blox.recording.wait_causes import COUNTED, ToldCauses, counted_cause, told_cause


@pytest.mark.parametrize(
    ("gpus", "free", "handed_out", "blocked", "cause", "words"),
    [
        (4, 4, 0, False, "fragmentation", "not where it could use them"),
        (4, 4, 0, True, "priority", "the order is strict"),
        (4, 1, 3, False, "priority", "went to jobs ahead of it"),
        (4, 1, 3, True, "priority", "went to jobs ahead of it"),
        (4, 1, 2, False, "capacity", "too few GPUs"),
    ],
)
def test_a_wait_is_classed_by_what_was_free_and_handed_out(gpus, free, handed_out, blocked, cause, words):
    found = COUNTED[int(counted_cause(gpus, free, handed_out, blocked))]
    assert found[0] == cause and words in found[1]


def test_only_a_scheduler_that_leaves_free_gpus_is_a_cause_of_its_own():
    _, priority, capacity, fragmentation, strict_order = COUNTED
    for counted in (priority, capacity):
        assert told_cause("scheduling", counted) == counted[0]
    for counted in (fragmentation, strict_order):
        assert told_cause("scheduling", counted) == "scheduler"
    assert told_cause("placement", fragmentation) == "fragmentation"
    assert told_cause("admission", COUNTED[0]) == "admission"


def note(told, now, **words):
    """Notes (part, words) by row: `r3=("scheduling", "lease")`."""
    rows = np.array([int(name[1:]) for name in words], dtype=np.int64)
    told.note(now, rows, np.array([told.code(*each) for each in words.values()], dtype=np.int64))


def test_intervals_end_where_the_words_change_or_nothing_is_told_any_more():
    told = ToldCauses()
    lease, auction, quota = ("scheduling", "lease"), ("scheduling", "auction"), ("admission", "quota")
    note(told, 0.0, r0=lease, r2=quota)
    note(told, 100.0, r0=lease, r2=quota)  # nothing new
    note(told, 200.0, r0=auction, r300=lease)
    assert told.open
    note(told, 300.0, r300=lease, r2=("scheduling", ""))
    table = told.table(end_s=500.0)
    rows = list(zip(*(table[name].tolist() for name in ("job", "start_s", "end_s", "part", "because"))))
    assert rows == [
        (0, 0.0, 200.0, *lease),
        (0, 200.0, 300.0, *auction),
        (2, 0.0, 200.0, *quota),
        (300, 200.0, 500.0, *lease),
    ]
    assert told.of_part("scheduling")["end_s"].tolist() == [200.0, 300.0, math.inf]
    note(told, 400.0)
    assert not told.open


def test_a_log_without_entries_is_an_empty_table():
    told = ToldCauses()
    assert {name: len(column) for name, column in told.table(9.0).items()} == dict.fromkeys(
        ("job", "start_s", "end_s", "part", "because"), 0
    )
