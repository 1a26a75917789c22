"""Two-phase exits in a simulated network: all ranks leave after the same iteration, none waits for ever."""

import pytest

from blox.cluster.chaos.__main__ import main
from blox.cluster.chaos.checks import Violation
from blox.cluster.chaos.exits import Exit, run_exit
from blox.cluster.chaos.history import Machines
from support.cluster_mistakes import MISTAKES


def test_five_hundred_exits_are_agreed_on():
    for seed in range(500):
        run_exit(seed)


@pytest.mark.slow
def test_ten_thousand_exits_are_agreed_on(capsys):
    assert main(["--histories", "0", "--exits", "10000", "--processes", "1"]) == 0
    assert "10,000 two-phase exits, 0 failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    "mistake",
    ["revoke at several ranks at once", "let the lead go on before all nodes know", "forget the epoch"],
)
def test_a_known_mistake_is_found(mistake):
    with pytest.raises(Violation):
        for seed in range(50):
            run_exit(seed, MISTAKES[mistake])


def test_exits_are_of_many_kinds():
    """On one node and on four, early and late, with messages lost on the way."""
    runs = [Exit(seed, Machines()) for seed in range(60)]
    left = [run.run() for run in runs]
    assert {len(run._ranks) for run in runs} == {1, 2, 3, 4}
    assert max(left) > 4 * min(left)
    assert sum(run._network._drop > 0 for run in runs) > 20
