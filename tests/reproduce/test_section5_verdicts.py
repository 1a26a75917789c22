"""Verdicts about section 5 of the paper follow from the numbers by their rules."""

import math
from pathlib import Path

import pytest

from blox.reproduce import Done, Setting, fig12, fig13, fig16, table4, thresholds
from blox.results.result import Result
from blox.results.statistics import Interval


@pytest.mark.parametrize(
    ("jct", "word"),
    [
        ((100.0, 95.0, 85.0, 70.0), "holds"),
        ((100.0, 95.0, 96.0, 94.0), "holds"),  # 2 % are no difference
        ((100.0, 80.0, 90.0, 95.0), "holds in part"),  # the lower, the worse
        ((100.0, 101.0, 90.0, 80.0), "holds in part"),
        ((100.0, 120.0, 110.0, 99.0), "does not hold"),
    ],
)
def test_figures_12_and_13(jct, word):
    assert thresholds.judge(dict(zip(thresholds.FACTORS, jct))).word == word


def test_a_gain_that_chance_may_have_made_does_not_count():
    jct = dict(zip(thresholds.FACTORS, (100.0, 95.0, 85.0, 70.0)))
    sure = {name: Interval(0.1, 0.01, 0.2) for name in thresholds.LIMITED}
    assert thresholds.judge(jct, sure).word == "holds"
    verdict = thresholds.judge(jct, {**sure, "accept 1.5x": Interval(0.05, -0.02, 0.12)})
    assert verdict.word == "holds in part" and "chance: accept 1.5x" in verdict.reason


@pytest.mark.parametrize(
    ("gain", "word"), [(0.44, "holds"), (0.35, "holds"), (0.2, "holds in part"), (0.05, "does not hold")]
)
def test_figure_16(gain, word):
    verdict = fig16.judge(gain)
    assert verdict.word == word and f"{100 * gain:.1f} %" in verdict.reason


@pytest.mark.parametrize(
    ("ratio", "word"), [(1.45, "holds"), (1.4, "holds"), (1.2, "holds in part"), (1.05, "does not hold")]
)
def test_table_4(ratio, word):
    assert table4.judge(ratio).word == word


def test_jobs_of_figures_12_and_13_go_on_coming():
    for page, spikes in ((fig12.PAGE, ""), (fig13.PAGE, ",spike_jobs=16")):
        for scale in ("quick", "full"):
            asked = page.cases(Setting(scale))
            assert {case.experiment.workload for case in asked} == {f"gavel:load=8{spikes}"}


def done(page, jct_h):
    """Made-up averages, by line, jobs that come and seed, for all runs of a page or probe."""
    return [
        Done(
            case,
            Result("", {}, {"avg_jct_s": 3600 * jct_h(case.line, case.x, case.experiment.seed)}, {}, {}, {}),
            Path(),
        )
        for case in page.cases(Setting())
    ]


def test_arrivals_that_end_turn_the_answer_round():
    def jct_h(line, jobs, seed):
        return 50.0 if line != thresholds.ALL else {4001.0: 20.0, 8000.0: 50.0, math.inf: 80.0}[jobs]

    cause = thresholds.Arrivals(0).cause(done(thresholds.Arrivals(0), jct_h))
    assert "+150 % if no jobs come after, +0 % if 4,000 come after, -38 % if jobs without end" in cause.answer
    assert [row[0] for row in cause.table.rows] == ["no jobs", "4,000", "jobs without end"]


def test_gains_of_the_paper_stand_beside_those_of_seeds():
    def jct_h(line, jobs, seed):
        return 100.0 if line == thresholds.ALL else 100.0 - 10 * seed

    probe = thresholds.Seeds(0, {"accept 1.5x": 0.05, "accept 1.2x": 0.15, "accept 1.0x": 0.35})
    cause = probe.cause(done(probe, jct_h))
    assert [cause.answer.count(word) for word in ("5 % is below", "15 % is among", "35 % is above")] == [
        1,
        1,
        1,
    ]
    assert cause.table.rows[-1] == ("the paper", "+5.0 %", "+15.0 %", "+35.0 %")
