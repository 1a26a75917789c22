"""Verdicts about section 5 of the paper follow from the numbers by their rules."""

import pytest

from blox.reproduce import Setting, fig12, fig13, fig16, table4, thresholds
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


def test_the_quick_form_of_a_page_is_a_quarter_of_the_whole():
    for page, spikes in ((fig12.PAGE, ("", "")), (fig13.PAGE, (",spike_jobs=4", ",spike_jobs=16"))):
        workloads = [page.cases(Setting(scale))[0].experiment.workload for scale in ("quick", "full")]
        assert workloads == [f"gavel:load=2{spikes[0]}", f"gavel:load=8{spikes[1]}"]
