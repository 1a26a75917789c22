"""Gavel's claims: the rule for the verdict, and the runs behind it."""

from blox.reproduce import gavel
from blox.reproduce.gavel_runs import COMPARISONS
from blox.reproduce.page import Setting


def test_it_holds_where_both_factors_are_reached():
    assert gavel.judge(3.6, 1.4).word == "holds"


def test_in_part_where_one_is_reached_or_both_by_half():
    assert gavel.judge(3.5, 1.0).word == "holds in part"
    assert gavel.judge(1.1, 1.5).word == "holds in part"
    assert gavel.judge(2.3, 1.25).word == "holds in part"


def test_not_otherwise():
    told = gavel.judge(2.2, 1.1)
    assert told.word == "does not hold"
    assert "2.20x (3.5x claimed)" in told.reason and "1.10x" in told.reason


def test_every_comparison_has_its_runs_on_the_same_jobs():
    for scale in ("quick", "full"):
        cases = gavel.PAGE.cases(Setting(scale=scale))
        by_line = {}
        for case in cases:
            case.experiment.prepare()
            by_line.setdefault(case.line, {})[case.x] = case.experiment
        for each in COMPARISONS:
            other, ours = (by_line[line] for line in each.lines)
            assert other.keys() == ours.keys()
            for load, experiment in ours.items():
                assert experiment.workload == other[load].workload
                assert experiment.cluster == other[load].cluster
                assert experiment.scheduler.startswith(f"gavel:policy={each.policy}")
