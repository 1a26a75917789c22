"""Figures 3 and 6 to 9: the verdict follows from the numbers by the rule, on made-up numbers."""

import pytest

from blox.reproduce import Setting, fig3, fig6, fig7, fig8, fig9, pages
from blox.reproduce.elastic_loads import FIFO, LAS, OPTIMUS, POLLUX, TIRESIAS

LOADS = (2.0, 6.0, 9.0)
POLLUX_LOADS = (5.0, 20.0, 40.0)


@pytest.mark.parametrize(
    ("off", "word"),
    [
        ({30: 0.02, 60: -0.05, 480: 0.05}, "holds"),
        ({30: 0.02, 60: 0.0, 480: 0.08}, "holds in part"),
        ({30: 0.2, 60: 0.0, 480: 0.08}, "does not hold"),
    ],
)
def test_figure_3(off, word):
    verdict = fig3.judge(off)
    assert verdict.word == word
    assert f"{sum(abs(x) <= 0.05 for x in off.values())} of 3" in verdict.reason


def test_figure_3_compares_jcts_or_what_longer_intervals_cost():
    ours, theirs = {60.0: 100.0, 480.0: 130.0}, {60.0: 200.0, 480.0: 250.0}
    assert fig3.deviations(ours, theirs, absolute=True) == {60.0: -0.5, 480.0: pytest.approx(130 / 250 - 1)}
    assert fig3.deviations(ours, theirs, absolute=False) == {60.0: 0.0, 480.0: pytest.approx(1.3 / 1.25 - 1)}


def lines(loads, **values):
    return {name: dict(zip(loads, of)) for name, of in values.items()}


@pytest.mark.parametrize(
    ("fifo", "tiresias", "optimus", "word"),
    [
        ((3, 3, 4), (3, 3, 5), (2, 2, 3), "holds"),
        ((3, 3, 5), (3, 3, 5), (2, 2, 3), "holds in part"),
        ((3, 3, 4), (3, 3, 5), (3, 3, 3), "holds in part"),
        ((3, 3, 6), (3, 3, 5), (3.1, 3, 3), "does not hold"),
    ],
)
def test_figure_6(fifo, tiresias, optimus, word):
    found = lines(LOADS, **{FIFO: fifo, TIRESIAS: tiresias, OPTIMUS: optimus})
    assert fig6.judge(found).word == word


@pytest.mark.parametrize(
    ("fifo", "tiresias", "optimus", "word"),
    [
        ((3, 3, 90), (3, 3, 5), (4, 3, 30), "holds"),
        ((3, 3, 4), (3, 3, 5), (4, 3, 5), "holds in part"),
        ((3, 3, 90), (30, 3, 5), (4, 3, 30), "holds in part"),
        ((3, 3, 90), (30, 3, 50), (4, 3, 30), "does not hold"),
    ],
)
def test_figure_7(fifo, tiresias, optimus, word):
    assert fig7.judge(lines(LOADS, **{FIFO: fifo, TIRESIAS: tiresias, OPTIMUS: optimus})).word == word


@pytest.mark.parametrize(
    ("pollux", "fifo", "las", "word"),
    [
        ((1, 2, 9), (2, 3, 10), (1.5, 2, 8), "holds"),
        ((1, 2, 4), (2, 3, 10), (1.5, 2, 8), "holds in part"),
        ((2, 2, 9), (2, 3, 10), (1.5, 2, 8), "holds in part"),
        ((2, 2, 4), (2, 3, 10), (1.5, 2, 8), "does not hold"),
    ],
)
def test_figure_8(pollux, fifo, las, word):
    assert fig8.judge(lines(POLLUX_LOADS, **{POLLUX: pollux, FIFO: fifo, LAS: las})).word == word


@pytest.mark.parametrize(
    ("pollux", "fifo", "las", "word"),
    [
        ((3, 3, 90), (3, 9, 100), (3, 3, 5), "holds"),
        ((3, 3, 4), (3, 9, 100), (3, 3, 5), "holds in part"),
        ((3, 3, 4), (3, 9, 6), (3, 3, 5), "holds in part"),
        ((3, 3, 4), (30, 9, 100), (3, 3, 5), "holds in part"),
        ((3, 3, 4), (30, 9, 6), (3, 3, 5), "does not hold"),
    ],
)
def test_figure_9(pollux, fifo, las, word):
    assert fig9.judge(lines(POLLUX_LOADS, **{POLLUX: pollux, FIFO: fifo, LAS: las})).word == word


@pytest.mark.parametrize("name", ["fig3", "fig6", "fig7", "fig8", "fig9"])
@pytest.mark.parametrize("scale", ["quick", "full"])
def test_cases_can_be_prepared(name, scale):
    figure, setting = pages()[name], Setting(scale)
    asked = {case.experiment for case in figure.cases(setting)}
    assert asked and figure.setup(setting).endswith(".")
    for experiment in list(asked)[:4]:
        experiment.prepare()


def test_figures_6_and_7_are_two_looks_at_the_same_runs():
    for one, other in ((fig6, fig7), (fig8, fig9)):
        assert one.PAGE.cases(Setting()) == other.PAGE.cases(Setting())


def test_figure_3_takes_a_trace():
    cases = fig3.PAGE.cases(Setting(trace="pollux:workload-6.csv"))
    assert {case.experiment.compat for case in cases} == {
        f"pollux:policy=pollux,interval={interval}" for interval in (60, 240, 480)
    }
    assert "workload-6" in fig3.PAGE.setup(Setting(trace="pollux:workload-6.csv"))
