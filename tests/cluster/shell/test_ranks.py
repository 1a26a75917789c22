"""Ranks: how the end of a process is read, and what it leaves behind."""

import pytest

from blox.client.page import LeasePage
from blox.cluster.shell.ranks import Rank, outcome_of


@pytest.mark.parametrize(
    ("code", "why", "preempted", "outcome"),
    [
        (0, "exit", False, "done"),
        (0, "exit", True, "done"),
        (75, "exit", True, "left"),
        (-15, "exit", True, "left"),
        (75, "exit", False, "failed"),
        (-15, "exit", False, "failed"),
        (1, "exit", True, "failed"),
        (-9, "killed", False, "killed"),
        (-9, "lost", False, "lost"),
    ],
)
def test_the_code_of_a_preemption_means_that_where_the_rank_was_told_to_leave(code, why, preempted, outcome):
    assert outcome_of(code, why, preempted, "")[0] == outcome


def test_a_rank_that_leaves_unasked_says_what_its_code_is_for():
    detail = outcome_of(75, "exit", False, "bye\n")[1]
    assert detail == "exit code 75, that of a preemption, which nothing had asked for; its log ends:\nbye"


@pytest.mark.parametrize("told", [{}, {"revoked": True}, {"exit_at": 0}, {"terminated": True}])
def test_a_rank_is_told_to_leave_by_its_lease_or_by_a_signal(tmp_path, told):
    page = LeasePage.create(tmp_path / "lease")
    rank = Rank(None, page, tmp_path)
    for name, value in told.items():
        setattr(rank if hasattr(rank, name) else page, name, value)
    assert rank.preempted == bool(told)
