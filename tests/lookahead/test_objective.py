"""What combinations are chosen by: one figure, several by a stated rule, a function of one's own."""

import math
from dataclasses import replace

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.lookahead.objective import HIGH, LOW, NEEDS, objective_from


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
    only_some = {"wait_scheduler_s"}  # where a policy leaves jobs out
    assert {*LOW, *HIGH} - {*summary} == only_some
    assert objective_from("p95_jct").names == objective_from("p95_jct_s").names == ("p95_jct_s",)


@pytest.mark.parametrize("name", [*LOW, *HIGH, *NEEDS, "waited_by_gpus.1.p95_s"])
def test_every_figure_that_can_be_named_is_one_of_a_look_ahead(name):
    ends = {"termination": "loss:threshold=0.002"} if NEEDS.get(name) == "termination" else {}
    experiment = Experiment(
        workload="philly:load=400,max_gpus=4",
        jobs=40,
        cluster="v100=1x8:links=p3.16xlarge",
        prices="2.5",
        power="300/60",
        seed=2,
        auto={"scheduler": ["fifo", "las"], "objective": name, "belief": "told"},
        **ends,
    )
    choices = experiment.run().tables["choices"]
    assert len(choices[name]) and np.isfinite(choices["score"]).any()


def test_a_function_of_one_s_own(tmp_path):
    (tmp_path / "mine.py").write_text("def tail(result):\n    return max(result.jobs['jct_s'])\n")
    objective = objective_from(f"{tmp_path}/mine.py:tail")
    result = Experiment(workload="constant", jobs=3).run()
    assert objective.values(result) == (max(result.jobs["jct_s"]),)
    assert objective_from("evenness").names == ("evenness",), "a registered metric by its name"


def test_functions_of_a_program_stand_beside_named_figures(tmp_path):
    def longest(result):
        return max(result.jobs["jct_s"])

    small = Experiment(workload="philly:load=40,max_gpus=4", jobs=30, cluster="2x4")
    auto = {"scheduler": ["fifo", "las"], "every": 5}
    several = replace(small, auto={**auto, "objective": ["avg_jct", longest, lambda result: 1.0]}).run()
    assert {"avg_jct_s", "longest", "function"} <= {*several.tables["choices"]}
    with pytest.raises(BloxError, match="known to this program alone"):
        several.save(tmp_path / "kept")
    (tmp_path / "mine.py").write_text("def longest(result):\n    return max(result.jobs['jct_s'])\n")
    named = replace(small, auto={**auto, "objective": f"{tmp_path}/mine.py:longest"}).run()
    alone = replace(small, auto={**auto, "objective": longest}).run()
    assert alone.tables["choices"]["longest"].tolist() == named.tables["choices"]["longest"].tolist()
    named.save(tmp_path / "kept")
    assert "auto_file_sha256" in (tmp_path / "kept" / "experiment.toml").read_text()


def test_the_checksum_of_a_file_among_several_objectives_is_kept(tmp_path):
    (tmp_path / "mine.py").write_text("def one(result):\n    return 1.0\n")
    auto = f"scheduler=fifo,las;objective=avg_jct+{tmp_path}/mine.py:one"
    found = Experiment(workload="constant", jobs=3, auto=auto).run().experiment["provenance"]
    assert "auto_file_sha256" in found


@pytest.mark.parametrize(
    ("objective", "why"),
    [
        ("finished", "until all jobs are done"),
        ("jobs", "the same with every combination"),
        ("evictions", "nothing fails ahead"),
        ("changes_of_policy", "the synthesizer itself"),
    ],
)
def test_a_figure_that_tells_nothing_ahead_is_refused_with_the_reason_and_those_that_do(objective, why):
    with pytest.raises(BloxError) as fault:
        objective_from(objective)
    assert why in fault.value.what and "avg_jct_s" in fault.value.fix and "saved_share" in fault.value.fix


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        ("saved_share", "--termination loss"), ("cost_dollars", "--prices"), ("energy_kwh", "--power"),
        ("avg_link_gbps", "links="),
    ],
)  # fmt: skip
def test_a_figure_that_an_experiment_does_not_have_is_refused_with_what_it_needs(objective, words):
    with pytest.raises(BloxError) as fault:
        Experiment(auto=f"scheduler=fifo,las;objective={objective}").prepare()
    assert words in fault.value.fix
    ends = Experiment(auto="scheduler=fifo,las;objective=ended_early", termination="loss:threshold=0.002")
    with pytest.raises(BloxError, match="knows no loss curves"):
        ends.prepare()


@pytest.mark.parametrize("text", ["", "avg_jct+", "avg_jctt", "jobs", "avg_jct+avg_jct_s"])
def test_what_cannot_be_an_objective_is_told_in_words(text):
    with pytest.raises(BloxError) as fault:
        objective_from(text)
    assert fault.value.fix
