"""Verdicts about the synthesizer (figures 14, 15, 20 and 21) follow from the numbers by their rules."""

import pytest

from blox.reproduce import Setting, fig14, fig15, fig20, fig21, synthesis
from blox.reproduce.fig15 import Switching
from blox.results.result import Result


@pytest.mark.parametrize(
    ("plain", "bursty", "word"),
    [
        (0.05, -0.02, "holds"),
        (0.03, 0.4, "holds in part"),
        (0.09, 0.08, "holds in part"),
        (0.09, 0.11, "does not hold"),
    ],
)
def test_figure_14(plain, bursty, word):
    verdict = fig14.judge({"plain": plain, "bursty": bursty})
    assert verdict.word == word and f"{100 * plain:+.1f} %" in verdict.reason


def test_the_best_static_combination_is_one_for_the_workload():
    """LAS is best on average (3.0), SRTF with the second seed alone; the synthesizer averages 3.1."""
    jct_h = {line: [9.0, 9.0] for line in synthesis.STATIC}
    jct_h |= {"LAS, accept all": [2.0, 4.0], "SRTF, accept 1.4x": [6.0, 2.5], synthesis.AUTO: [2.2, 4.0]}
    apart = synthesis.Apart.of(jct_h)
    assert apart.best == "LAS, accept all"
    assert apart.off == pytest.approx(3.1 / 3.0 - 1)
    assert apart.by_seed == pytest.approx((0.1, 0.0))
    assert apart.hindsight == pytest.approx((0.1, 4.0 / 2.5 - 1))


def test_a_job_that_never_ends_counts_with_the_time_that_it_has_waited_at_least():
    """Nine jobs of 2 h, and one that came in the first 10 hours and has not ended after 100."""
    summary = {"avg_jct_s": 7200.0, "jobs": 10, "finished": 9, "end_s": 360_000.0, "arrivals_end_s": 36_000.0}
    result = Result("", {}, summary, {}, {}, {})
    assert synthesis.jct_h(result) == pytest.approx((9 * 2 + 90) / 10)
    assert synthesis.jct_h(Result("", {}, {**summary, "finished": 10}, {}, {}, {})) == 2.0


@pytest.mark.parametrize(
    ("found", "longest", "word"),
    [
        ((Switching(2, 1.0), Switching(3, 4.0)), ("LAS", "SRTF"), "holds"),
        ((Switching(2, 1.0), Switching(3, 4.0)), ("LAS", "LAS"), "holds in part"),
        ((Switching(1, 0.0), Switching(1, 0.0)), ("LAS", "SRTF"), "holds in part"),
        ((Switching(1, 5.0), Switching(2, 0.5)), ("LAS", "LAS"), "does not hold"),
    ],
)
def test_figure_15(found, longest, word):
    names = ("plain", "bursty")
    assert fig15.judge(dict(zip(names, found)), dict(zip(names, longest))).word == word


@pytest.mark.parametrize(
    ("jct_off", "wait_min", "word"),
    [
        (0.1, 3.4, "holds"),  # within a minute
        (0.0, 2.6, "holds"),
        (0.11, 2.6, "holds in part"),
        (0.0, 3.6, "holds in part"),
        (0.2, 30.0, "does not hold"),
    ],
)
def test_figure_20(jct_off, wait_min, word):
    assert fig20.judge(jct_off, wait_min, 2.5).word == word


@pytest.mark.parametrize(
    ("order", "word"),
    [
        (["FIFO, accept all", "LAS, accept all", "LAS, accept 1.2x", "FIFO, accept all"], "holds"),
        (["FIFO, accept all", "LAS, accept all", "SRTF, accept all"], "holds in part"),
        (["FIFO, accept all"], "does not hold"),
        (["FIFO, accept all", "SRTF, accept all", "FIFO, accept all"], "does not hold"),
    ],
)
def test_figure_21(order, word):
    assert fig21.judge(order).word == word


def test_combinations_go_by_the_names_of_the_paper():
    assert synthesis.short("las + threshold:factor=1.2") == "LAS, accept 1.2x"
    assert synthesis.short("accept-all + fifo") == "FIFO, accept all"
    assert synthesis.short("mine + other") == "mine + other"


def test_quick_runs_are_a_quarter_of_the_whole():
    quick, full = (fig14.PAGE.cases(Setting(scale))[0].experiment for scale in ("quick", "full"))
    assert (quick.workload, full.workload) == ("philly:load=2,max_gpus=16", "philly:load=8,max_gpus=16")
    assert (quick.cluster, full.cluster) == ("11x2", "22x4")
