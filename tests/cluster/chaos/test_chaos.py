"""Seeded histories of a whole cluster with faults: what must hold does, and known mistakes are found."""

from __future__ import annotations

from collections import Counter

import pytest

from blox.cluster.chaos.__main__ import main
from blox.cluster.chaos.checks import Violation
from blox.cluster.chaos.history import run_history
from support.cluster_mistakes import KNOWN_SEEDS, MISTAKES

CHUNK = 50
QUICK = 250  # histories of the quick suite; the slow tests run as many again
MOST_SEEDS = 200  # among which every mistake must show itself


@pytest.mark.parametrize(
    "first",
    [*range(0, QUICK, CHUNK), *(pytest.param(n, marks=pytest.mark.slow) for n in range(QUICK, 500, CHUNK))],
)
def test_nothing_is_lost_or_run_twice(first):
    for seed in range(first, first + CHUNK):
        run_history(seed)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_known_mistake_is_found(mistake):
    with pytest.raises(Violation):
        for seed in (*KNOWN_SEEDS.get(mistake, ()), *range(MOST_SEEDS)):
            run_history(seed, MISTAKES[mistake])


def test_a_seed_replays_exactly():
    first, again, other = run_history(7), run_history(7), run_history(8)
    assert first.scheduler.journal == again.scheduler.journal
    assert first.world.now == again.world.now
    assert first.scheduler.journal != other.scheduler.journal


KINDS = {
    "delayed", "dropped", "repeated", "reordered", "cut off",
    "scheduler crashed", "scheduler crashed in a step", "scheduler stopped", "stored together",
    "worker manager crashed", "worker manager crashed in a step", "worker manager stopped",
    "rank crashed", "rank hung", "rank slow", "rank killed",
    "user: Submit", "user: Cancel", "user: SetPolicies", "user: SetNode",
}  # fmt: skip


def test_histories_contain_what_they_promise():
    """Faults of every kind, restarts, preemptions, cancelled and failed jobs all occur, and often: a test
    without them would show nothing."""
    ends, terms, epochs, seen = [], 0, 0, Counter()
    for seed in range(40):
        history = run_history(seed)
        ends += history.checks.ends.values()
        terms += history.scheduler.scheduler.term.term
        epochs += sum(job.epoch for job in history.scheduler.scheduler.jobs.all.values())
        seen.update(history.world.seen)
    assert {"finished", "cancelled"} < set(ends)
    assert any(end.startswith("failed") for end in ends)
    assert terms > 60
    assert epochs > 1.5 * len(ends)
    assert set(seen) == KINDS
    assert min(seen.values()) >= 5, seen


def test_the_command_tells_how_many_it_ran(capsys):
    assert main(["--histories", "4", "--from", "20"]) == 0
    assert "4 histories" in capsys.readouterr().out


def test_the_command_prints_a_failing_seed(capsys, monkeypatch):
    def broken(seed):
        raise Violation("a slot has two owners")

    monkeypatch.setattr("blox.cluster.chaos.__main__.run_history", broken)
    assert main(["--histories", "1", "--from", "31", "--processes", "1"]) == 1
    assert "seed 31: a slot has two owners" in capsys.readouterr().out
