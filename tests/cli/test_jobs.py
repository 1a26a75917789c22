"""`blox jobs`: the columns of its table."""

import pytest

from blox.cli.cluster_tables import cut
from blox.cluster.protocol.queries import JobView, PoliciesView

FIFO = PoliciesView("accept-all", "fifo", "first-free", 60.0, 10.0, "")


def view(number, name="", state="waiting", command=()):
    return JobView(number, name, "ada", 1, state, (), 0.0, None, 1, 0, -1, -1, command)


@pytest.fixture
def listed(command, monkeypatch):
    """The lines of `blox jobs` on a cluster with these jobs."""

    def lines(*views):
        monkeypatch.setattr("blox.cluster.api.Client.jobs", lambda self, ended: list(views))
        monkeypatch.setattr("blox.cluster.api.Client.policies", lambda self: FIFO)
        return command("jobs").out.splitlines()

    return lines


def test_a_name_with_lines_has_one_row(listed):
    head, row = listed(view(1, "two\nlines\tand\x1b[31m more"))
    assert "two lines and\\x1b[31m more" in row and row.index("ada") == head.index("user")


def test_wide_characters_count_twice(listed):
    """In a terminal the columns of both rows begin at the same place."""
    _, wide, plain = listed(view(1, "\N{CJK UNIFIED IDEOGRAPH-6F22}" * 4), view(2, "plain"))
    assert wide.index("ada") + 4 == plain.index("ada")


def test_what_is_cut_has_an_ellipsis(listed):
    _, row = listed(view(1, state="failed: " + "x" * 60 + "\nlog", command=("python",) * 9))
    assert "python python python python p… " in row and f"failed: {'x' * 31}… " in row


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("exactly", "exactly"),
        ("too long", "too lo…"),
        ("one\ntwo", "one…"),
        ("\N{CJK UNIFIED IDEOGRAPH-6F22}" * 4, "\N{CJK UNIFIED IDEOGRAPH-6F22}" * 3 + "…"),
    ],
)
def test_a_text_is_cut_to_columns(text, shown):
    assert cut(text, 7) == shown
