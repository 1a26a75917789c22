"""What combinations are chosen by: one figure, several by a stated rule, a function of one's own."""

import math

import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.lookahead.objective import HIGH, LOW, objective_from


def scores(text, *values):
    return objective_from(text).scores(values).tolist()


def test_of_one_figure_the_smallest_is_the_best():
    assert scores("avg_jct", (200.0,), (100.0,), (150.0,)) == pytest.approx([2.0, 1.0, 1.5])


def test_where_more_is_better_the_largest_is():
    found = scores("utilisation", (0.5,), (0.8,), (0.4,))
    assert found.index(min(found)) == 1 and found[0] < found[2]


def test_several_figures_are_weighed_by_how_far_each_is_from_the_best():
    """The first is best in JCT and 50 % off in responsiveness, the second the other way round by 20 %."""
    found = scores("avg_jct+avg_responsiveness", (100.0, 30.0), (120.0, 20.0), (200.0, 60.0))
    assert found == pytest.approx([1.25, 1.1, 2.5])


def test_a_best_value_of_nothing_counts_by_the_largest():
    assert scores("avg_responsiveness", (0.0,), (50.0,), (100.0,)) == pytest.approx([1.0, 1.5, 2.0])
    assert scores("preemptions", (0.0,), (0.0,)) == [1.0, 1.0]


def test_one_without_a_value_is_never_chosen():
    assert scores("avg_jct", (math.nan,), (3.0,)) == [math.inf, 1.0]
    assert scores("avg_jct", (math.nan,), (math.nan,)) == [math.inf, math.inf]


def test_every_figure_that_can_be_named_is_in_a_summary():
    summary = Experiment(workload="constant", jobs=3).run().summary
    assert [name for name in (*LOW, *HIGH) if name not in summary] == []
    assert objective_from("p95_jct").names == objective_from("p95_jct_s").names == ("p95_jct_s",)


def test_a_function_of_one_s_own(tmp_path):
    (tmp_path / "mine.py").write_text("def tail(result):\n    return max(result.jobs['jct_s'])\n")
    objective = objective_from(f"{tmp_path}/mine.py:tail")
    result = Experiment(workload="constant", jobs=3).run()
    assert objective.values(result) == (max(result.jobs["jct_s"]),)
    assert objective_from("evenness").names == ("evenness",), "a registered metric by its name"


@pytest.mark.parametrize("text", ["", "avg_jct+", "avg_jctt", "jobs", "avg_jct+avg_jct_s"])
def test_what_cannot_be_an_objective_is_told_in_words(text):
    with pytest.raises(BloxError) as fault:
        objective_from(text)
    assert fault.value.fix
