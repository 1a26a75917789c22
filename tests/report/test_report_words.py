"""The sentences on top of the report."""

from __future__ import annotations

import math

from blox.report import settings, words
from blox.report.labels import labels
from blox.results.replications import Replications
from support.toy_runs import ToyResult, toy_run, with_figures


def _with(label: str, jct: float, responsiveness: float, preemptions: float) -> ToyResult:
    run = toy_run(jobs=2)
    run.summary.update(avg_jct_s=jct, avg_responsiveness_s=responsiveness, preemptions=preemptions)
    run.summary.update(moves=0, interruptions=preemptions)
    return ToyResult(label, run.experiment, run.summary, run.jobs, run.rounds, run.stints)


def _seeded(
    label: str, jct: float, responsiveness: float, preemptions: float, noise: float = 1.0
) -> Replications:
    """The same over three seeds: at, below and above the given JCT."""
    return with_figures(
        label,
        avg_jct_s=[jct - noise, jct + noise, jct],
        avg_responsiveness_s=[responsiveness] * 3,
        preemptions=[preemptions] * 3,
        interruptions=[preemptions] * 3,
    )


def test_the_winner_its_lead_and_its_price() -> None:
    runs = [
        _seeded("fifo", 36000, 7200, 0),
        _seeded("srtf", 18000, 3600, 50, 5),
        _seeded("las", 20000, 60, 9),
    ]
    claim, price = words.headline(runs)
    assert (
        claim
        == "srtf has the lowest average JCT: 5 h, 10 % less than las (5.56 h) and 50 % less than fifo (10 h)."
    )
    assert price == (
        "The price: jobs first start after 60 min on average, against 60 s with las; "
        "50 preemptions, against 0 with fifo. Means of 3 seeds; ± is the 95 % interval."
    )


def test_a_winner_that_costs_nothing() -> None:
    claim, price = words.headline([_seeded("a", 7200, 60, 3), _seeded("b", 14400, 120, 5, 9)])
    assert claim == "a has the lowest average JCT: 2 h, 50 % less than b (4 h)."
    assert price.startswith("a is also the most responsive") and "3 preemptions, no run has fewer." in price


def test_what_is_not_distinguishable_is_not_claimed() -> None:
    first, noisy, far = (
        _seeded("srtf", 18000, 9, 0), _seeded("las", 18100, 9, 0, 900), _seeded("fifo", 36000, 9, 0, 9)
    )  # fmt: skip
    assert words.headline([first, noisy, far])[0] == (
        "srtf has the lowest average JCT: 5 h, not distinguishable from las (5.03 h); "
        "50 % less than fifo (10 h)."
    )
    assert words.headline([first, noisy])[0] == (
        "Not distinguishable: the average JCT is from 5 h (srtf) to 5.03 h (las), "
        "and no run can be told from the lowest."
    )


def test_one_run_of_each_is_no_test() -> None:
    claim, price = words.headline([_with("a", 7200, 60, 3), _with("b", 14400, 120, 5)])
    assert claim == "Not tested: in this one run the average JCT is from 2 h (a) to 4 h (b)."
    assert price.endswith("does not show how far its figures vary: --seeds 5 gives intervals.")


def test_an_oracle_is_marked_as_one() -> None:
    run = _seeded("srtf", 18000, 9, 0)
    for each in run.runs:
        each.experiment["provenance"]["oracle"] = True
    other = _seeded("fifo", 36000, 9, 0, 9)
    assert labels([run, other]) == ["srtf (oracle)", "fifo"]
    assert words.headline([run, other])[0].startswith("srtf (oracle) has the lowest average JCT")


def test_a_run_without_a_setting_goes_by_its_name_alone() -> None:
    several = _seeded("fifo", 36000, 9, 0, 9)
    assert labels([several, several.runs[0]]) == ["fifo [seeds=3]", "fifo"]


def test_no_difference_and_no_jobs() -> None:
    assert words.headline([_with("a", 60, 1, 0), _with("b", 60, 1, 0)])[0].startswith("No difference")
    nothing = _with("a", math.nan, math.nan, math.nan)
    assert words.headline([nothing, nothing])[0] == "No job finished in any of the runs."
    assert "only run" in words.headline([nothing, _with("b", 60, 1, 0)])[0]
    assert words.headline([nothing])[0] == "a: no job finished."
    assert words.headline([])[0]


def test_one_run_is_described() -> None:
    claim, price = words.headline([_with("las", 7200, 60, 1)])
    assert claim == "las: 2 jobs take 2 h on average."
    assert "1 preemption;" in price


def test_runs_of_one_label_are_numbered() -> None:
    runs = [_with("las", 1, 1, 1), _with("fifo", 1, 1, 1), _with("las", 1, 1, 1)]
    assert labels(runs) == ["las [1]", "fifo", "las [2]"]


def test_runs_of_one_label_are_told_apart_by_their_settings() -> None:
    runs = [toy_run("las", jobs=2, seed=1), toy_run("las", jobs=2, seed=7)]
    assert labels(runs) == ["las [seed=1]", "las [seed=7]"]
    for run, placement in zip(runs, ("first-free", "consolidated")):
        run.experiment.update(seed=1, placement=placement)
    assert labels(runs) == ["las [first-free]", "las [consolidated]"]


def test_jobs_that_did_not_finish_are_counted() -> None:
    run = toy_run(jobs=10, max_rounds=5)
    assert words.unfinished([run]) == "Jobs that did not finish are left out: 10 of 10 in fifo."
    assert words.unfinished([toy_run(jobs=3)]) == ""


def test_settings_that_differ() -> None:
    runs = [toy_run("fifo", jobs=2), toy_run("las", jobs=2)]
    assert settings.differences(runs) == {"scheduler": ["fifo", "las"]}


def _elastic(label: str, resizable: int | None, performance: str, came_to: str = "") -> ToyResult:
    run = _with(label, 60, 1, 0)
    experiment = {**run.experiment, "performance": performance}
    if came_to:
        experiment["provenance"] = {"performance": came_to}
    if resizable is not None:
        run.summary["resizable_jobs"] = resizable
    return ToyResult(label, experiment, run.summary, run.jobs, run.rounds, run.stints)


def test_what_resizes_says_when_there_is_nothing_to_resize() -> None:
    assert words.remarks(_elastic("pollux", 5, "auto", "goodput")) == []
    assert words.remarks(_elastic("pollux", 5, "goodput:profiles=mine.toml")) == []
    assert words.remarks(_elastic("fifo", None, "duration")) == []
    (nothing,) = words.remarks(_elastic("pollux", 0, "auto", "goodput"))
    assert "none of these can be resized" in nothing and "elastic:of=" in nothing
    (no_goodput,) = words.remarks(_elastic("optimus", 5, "duration"))
    assert "goodput is not in use: performance duration" in no_goodput


def test_an_interval_shorter_than_a_round_is_told() -> None:
    run = _elastic("pollux", 5, "goodput")
    for interval, told in (("60", True), ("300", False), ("0", False), ("600", False)):
        run.experiment.update(scheduler=f"pollux:p=1,interval_s={interval}", round_s=300.0)
        assert any("shorter than a round" in remark for remark in words.remarks(run)) == told, interval


def test_speeds_of_different_models_are_told() -> None:
    pollux, fifo = _elastic("pollux", 0, "auto", "goodput"), _elastic("fifo", None, "auto", "duration")
    (told,) = words.mixed_speeds([pollux, fifo])
    assert "goodput in pollux; duration in fifo" in told
    assert words.mixed_speeds([pollux, pollux]) == words.mixed_speeds([fifo]) == []
    gavel = _elastic("gavel", None, "auto", "throughputs")
    assert words.mixed_speeds([gavel, fifo]) == [], "they agree where nothing differs but the scheduler"
