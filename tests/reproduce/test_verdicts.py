"""The verdict follows from the numbers by the rule: all three words, on numbers made up for them."""

import numpy as np
import pytest

from blox.experiment.settings import Experiment
from blox.reproduce import Case, Done, Setting, distribution, fig4, fig10, fig11, pages
from blox.reproduce.curves import Spread
from blox.reproduce.page import Measurement
from blox.results.result import Result


@pytest.mark.parametrize(
    ("here", "there", "word", "says"),
    [
        (
            {2: 0.0, 4: 0.02, 6: 0.05, 8: 0.10},
            {6: 0.01, 8: 0.01},
            "holds",
            "at 2 of 2 loads, by 7.5 % on average",
        ),
        (
            {2: 0.20, 4: 0.20, 6: 0.05, 8: 0.10},
            {6: 0.0, 8: 0.0},
            "holds in part",
            "does not grow with the load",
        ),
        ({2: 0.0, 6: 0.05, 8: 0.10}, {6: 0.1, 8: 0.1}, "holds in part", "no smaller on P100"),
        ({2: 0.0, 5: 0.005, 6: 0.05, 8: 0.1}, {5: 0, 6: 0, 8: 0}, "holds in part", "at 2 of 3 loads"),
        ({2: 0.0, 6: -0.05, 8: 0.1}, {6: 0, 8: 0}, "does not hold", "at 1 of 2 loads"),
        ({2: 0.1, 6: -0.05, 8: -0.1}, {6: 0, 8: 0}, "does not hold", "at 0 of 2 loads"),
    ],
)
def test_figure_10(here, there, word, says):
    verdict = fig10.judge(here, there)
    assert verdict.word == word
    assert says in verdict.reason


@pytest.mark.parametrize(
    ("lead", "word", "says"),
    [
        ((0.0, 0.02, 0.05, 0.2), "holds", "+20.0 % with 8"),
        ((0.0, 0.02, 0.015, 0.2), "holds", "grows"),  # a hundredth is no difference
        ((0.0, 0.1, 0.02, 0.2), "holds in part", "does not grow"),
        ((-0.05, 0.0, 0.02, 0.2), "holds in part", "worse somewhere"),
        ((0.1, 0.05, 0.02, 0.005), "does not hold", "+0.5 % with 8"),
        ((0.0, 0.0, 0.0, -0.1), "does not hold", "-10.0 % with 8"),
    ],
)
def test_figure_11(lead, word, says):
    verdict = fig11.judge(dict(zip((5.0, 6.0, 7.0, 8.0), lead)))
    assert verdict.word == word
    assert says in verdict.reason


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ({16: (0.03, 0.02), 128: (0.0, 0.0)}, "holds"),
        ({16: (-0.05, 0.05)}, "holds"),
        ({16: (0.2, 0.2), 128: (0.0, 0.0)}, "holds in part"),
        ({16: (0.2, 0.01), 128: (0.2, 0.01)}, "holds in part"),
        ({16: (0.01, 0.2)}, "holds in part"),
        ({16: (0.2, 0.2), 128: (0.2, 0.01)}, "does not hold"),
        ({16: (-0.2, 0.2)}, "does not hold"),
    ],
)
def test_figure_4(found, word):
    assert fig4.judge(found).word == word


def test_distributions_are_compared_where_they_are_furthest_apart():
    """Shares done by 1, 2, 3, 4, 9: 1/4, 1/2, 3/4, 1, 1 and 1/4, 1/2, 1/2, 1/2, 1: half of them at 4."""
    off, apart = distribution.compare(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 9.0, 9.0]))
    assert (off, apart) == (pytest.approx(21 / 10 - 1), 0.5)
    assert distribution.compare(np.array([5.0, 7.0]), np.array([7.0, 5.0])) == (0.0, 0.0)


def made_up(figure, jct_h, setting):
    """Every case of a figure as if it had given jct_h(line, x, seed)."""
    done = []
    for case in figure.cases(setting):
        seconds = 3600 * jct_h(case.line, case.x, case.experiment.seed)
        done.append(Done(case, Result("", {}, {"avg_jct_s": seconds}, {}, {}, {}), None))
    return done


@pytest.mark.parametrize("scale", ["quick", "full"])
def test_figure_10_reads_its_own_runs(scale):
    def jct_h(line, x, seed):
        worse = {"Tiresias": 0.1 * x, "Tiresias (P100)": 0.01 * x}.get(line, 0.0)
        return 10.0 * seed * (1 + worse)

    setting = Setting(scale, seed=3)
    finding = fig10.PAGE.finding(made_up(fig10.PAGE, jct_h, setting))
    assert finding.verdict.word == "holds"
    assert {len(row) for row in finding.table.rows} == {len(finding.table.heads)}
    first = dict(zip(finding.table.heads, finding.table.rows[0]))
    load, seeds = float(first["jobs/h"]), len(setting.seeds(2, 3))
    spread = [10 * seed for seed in range(3, 3 + seeds)]
    assert first["all together, h"] == Spread.of(spread).text()
    assert first["Tiresias, h"] == Spread.of([each * (1 + 0.1 * load) for each in spread]).text()
    assert len(finding.table.rows) == (9 if scale == "full" else 3)


def test_figure_11_reads_its_own_runs():
    def jct_h(line, x, seed):
        return 10 + (x - 5 if line == fig11.SKEW else 0)

    finding = fig11.PAGE.finding(made_up(fig11.PAGE, jct_h, Setting()))
    assert finding.verdict.word == "holds"
    assert [row[0] for row in finding.table.rows] == ["5 of 8", "6 of 8", "7 of 8", "8 of 8"]
    assert finding.table.rows[-1][-1] == "+30.0 %"


def test_the_eight_models_of_figure_11_are_what_it_says_they_are():
    """On V100 at 10 Gb/s: sensitive and skewed, neither, sensitive without skew; jobs of 2, 4 and 8 GPUs."""
    from blox.performance.model_profiles import profiles_from
    from blox.performance.training import slowdown
    from blox.placement.profile import Profile
    from blox.placement.tiresias import Tiresias

    profiles = profiles_from()
    for names, sensitive, skewed in (
        (fig11.SKEWED, True, True),
        (fig11.TOLERANT, False, False),
        (fig11.NEWER, True, False),
    ):
        for name in names:
            model = profiles.model(name)
            assert model.name == name
            assert (model.largest_share >= Tiresias().skew) == skewed, name
            for gpus in (2, 4, 8):
                loss = slowdown(model, gpus, 4, profiles.generation("v100"), 10)
                assert (loss > Profile().tolerance) == sensitive, (name, gpus, loss)


@pytest.mark.parametrize("name", pages())
def test_every_page_says_what_it_is_about(name):
    page = pages()[name]
    for setting in (Setting(), Setting("full")):
        cases = page.cases(setting)
        assert (cases or isinstance(page, Measurement)) and all(isinstance(case, Case) for case in cases)
        assert len({case.experiment for case in cases}) == len(cases)
        assert page.setup(setting).endswith((".", ")"))
        for probe in page.probes:
            cases += probe.cases(setting)
        for case in {case.experiment.cluster: case for case in cases}.values():
            assert isinstance(case.experiment, Experiment)
            case.experiment.prepare()
    for text in (page.title, page.claim, page.rule):
        assert len(text) > 20
    assert page.claim.count(". ") == 0, "one sentence"
    assert all(text.endswith(".") for text in page.differences)


def test_pages_come_in_the_order_of_the_paper():
    names = list(pages())
    figures = [int(name.removeprefix("fig")) for name in names if name.startswith("fig")]
    assert figures == sorted(figures) and {4, 10, 11} <= set(figures)
    assert names.index("gavel") == len(names) - 1
