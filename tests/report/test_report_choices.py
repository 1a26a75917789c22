"""Which policies ruled when, as a reader of the report meets it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from blox import Experiment
from blox.report.choices import Reigns, timeline, told
from blox.report.page import page
from blox.report.static import save_pictures
from blox.report.words import remarks
from support.toy_runs import toy_run


@pytest.fixture(scope="module")
def chosen():
    experiment = Experiment(
        workload="philly:load=40,max_gpus=4", jobs=60, cluster="4x4", performance="duration"
    )
    return [Experiment(**{**experiment.to_table(), "auto": "scheduler=fifo,srtf,las;every=4"}).run()]


def test_every_time_since_the_first_decision_belongs_to_one_combination(chosen):
    reigns = Reigns.of(chosen[0])
    assert reigns is not None and reigns.name == ["fifo", "srtf", "las"]
    assert sum(reigns.share(at) for at in range(3)) == pytest.approx(1.0)
    bars = sorted(bar for at in range(3) for bar in reigns.bars(at))
    assert bars[0][0] == reigns.time_s[0] and bars[-1][1] == chosen[0].summary["end_s"]
    assert all(one[1] == other[0] for one, other in pairwise(bars))


def test_the_first_combination_is_drawn_from_the_beginning_of_the_run(chosen):
    reigns = Reigns.of(chosen[0])
    begin = float(chosen[0].jobs["submit_s"][0])
    assert begin < reigns.time_s[0]
    drawn = timeline(reigns, chosen[0])
    bars = sorted(bar for row in drawn.spans for bar in row)
    assert bars[0][0] == drawn.spans[0][0][0] == begin and bars[-1][1] == chosen[0].summary["end_s"]
    assert all(one[1] == other[0] for one, other in pairwise(bars))
    stays = timeline(replace(reigns, ruling=np.zeros_like(reigns.ruling)), chosen[0])
    assert stays.spans[0] == ((begin, reigns.end_s),), "no seam where the first choice keeps it"


def test_the_page_draws_them_and_says_what_they_cost(chosen, three):
    html = page(chosen, "a title")
    assert '<section id="choices-0">' in html and "Which policies ruled" in html
    assert f"{chosen[0].summary['choices']} choices, which took" in html
    assert "choices-0" not in page(three, "a title"), "runs that do not choose have no such section"
    assert "Which policies ruled in auto" in page([toy_run("fifo"), *chosen], "a title")


def test_the_picture_on_paper(chosen, tmp_path):
    pytest.importorskip("matplotlib")
    names = [path.name for path in save_pictures(tmp_path, chosen, ("svg",))]
    assert "choices.svg" in names and "srtf" in (tmp_path / "choices.svg").read_text()


def test_a_run_with_another_backend_says_that_looks_ahead_did_not_use_it(chosen, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from blox.backends.simulation import SimulationBackend\nclass Mine(SimulationBackend): ...\n"
    )
    settings = {key: value for key, value in chosen[0].experiment.items() if key != "provenance"}
    other = Experiment(**{**settings, "backend": f"{file}:Mine"}).run()
    (note,) = set(told(other)) - set(told(replace(other, experiment=chosen[0].experiment)))
    assert note.startswith(f"looks ahead used the backend simulation, not {file}:Mine")
    assert note in remarks(other)


def test_a_run_says_which_policies_ruled_and_when_nothing_decided(chosen):
    """Of two figures, each best under another policy, the best score is above 1 and not behind itself."""
    said = told(chosen[0])
    assert len(said) == 1 and said[0].startswith("ruled since the first choice: ")
    assert f"{chosen[0].summary['choices']} choices, which took" in said[0]
    reigns = Reigns.of(chosen[0])
    blind = np.full_like(reigns.scores, np.inf)
    blind[0] = [1.25, 1.5, 1.25]
    assert replace(reigns, scores=blind).behind[0].tolist() == [0.0, pytest.approx(0.2), 0.0]
    assert np.isnan(replace(reigns, scores=blind).behind[1:]).all()
    table = {**chosen[0].tables["choices"], "score": blind.reshape(-1)}
    unsure = replace(chosen[0], tables={**chosen[0].tables, "choices": table})
    count = len(blind)
    assert f"no value at {count - 1} of {count} choices" in told(unsure)[1]


def test_of_several_seeds_the_first_is_told_and_that_is_said():
    experiment = Experiment(
        workload="gavel:load=20,multi=true",
        cluster="2x4",
        jobs=30,
        auto="scheduler=fifo,srtf,las;every=4",
        seed=5,
    )
    both = experiment.replicate(2)
    alone, together = told(both.runs[0]), told(both)
    assert together[0] == f"with seed 5, the first of 2, {alone[0]}"
    assert Reigns.of(both).end_s == both.runs[0].summary["end_s"] != both.summary["end_s"]
    assert "Of several seeds the first" in page([both], "a title").partition("Which policies ruled")[2]
