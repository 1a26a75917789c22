"""One experiment over several seeds: in Python, on disk, and as one run of a report."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from blox import BloxError, Experiment
from blox.results.replications import Replications, first_run, load_runs
from blox.results.result import Result

SMALL = Experiment(workload="gavel:load=12,multi=true", cluster="4x4", jobs=40, scheduler="las", seed=3)


@pytest.fixture(scope="module")
def five() -> Replications:
    return SMALL.replicate(5)


def test_figures_are_means_and_jobs_those_of_all_seeds(five: Replications) -> None:
    assert five.seeds == [3, 4, 5, 6, 7]
    each = [run.summary["avg_jct_s"] for run in five.runs]
    assert five.summary["avg_jct_s"] == pytest.approx(np.mean(each)) and len(set(each)) == 5
    assert five.summary["jobs"] == 40 and isinstance(five.summary["jobs"], int)
    assert len(five.jobs["jct_s"]) == 200
    found = five.interval("avg_jct_s")
    assert found is not None
    # Student's t with 4 degrees of freedom: 2.776
    assert found.half_width == pytest.approx(2.7764 * np.std(each, ddof=1) / np.sqrt(5), rel=1e-4)


def test_each_seed_is_the_run_that_it_is_alone(five: Replications) -> None:
    alone = Experiment(**{**vars(SMALL), "seed": 5}).run()
    assert five.runs[2].summary == alone.summary


def test_it_is_kept_as_a_folder_per_seed_and_what_sums_them_up(five: Replications, tmp_path: Path) -> None:
    five.save(tmp_path / "r")
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "experiment.toml", "intervals.json", "seed-3", "seed-4", "seed-5", "seed-6", "seed-7"
    ]  # fmt: skip
    kept = json.loads((tmp_path / "r" / "intervals.json").read_text())
    figure, found = kept["figures"]["avg_jct_s"], five.interval("avg_jct_s")
    assert found is not None
    assert kept["seeds"] == five.seeds
    assert figure == {"mean": five.summary["avg_jct_s"], "low": found.low, "high": found.high}
    settings = tomllib.loads((tmp_path / "r" / "experiment.toml").read_text())
    assert (settings["seed"], settings["seeds"]) == (3, 5)
    again = Replications.load(tmp_path / "r")
    assert again.summary == five.summary and again.interval("avg_jct_s") == found
    assert again.jobs["jct_s"].tolist() == five.jobs["jct_s"].tolist()


def test_a_folder_of_seeds_is_taken_for_what_it_is(five: Replications, tmp_path: Path) -> None:
    five.save(tmp_path / "r")
    (loaded,) = load_runs(tmp_path / "r")
    assert isinstance(loaded, Replications)
    assert isinstance(load_runs(tmp_path / "r" / "seed-3")[0], Result)
    run, note = first_run(tmp_path / "r")
    assert run.experiment["seed"] == 3 and "the first of 5" in note
    with pytest.raises(BloxError, match="is missing") as refused:
        Result.load(tmp_path / "r")
    assert "seed-3" in refused.value.fix
    with pytest.raises(BloxError, match="no runs over several seeds"):
        Replications.load(tmp_path / "r" / "seed-3")


def test_seeds_with_gaps_are_listed(five: Replications) -> None:
    assert Replications(five.runs[::2]).experiment["seed"] == [3, 5, 7]


def test_seeds_that_failed_are_still_asked_for(five: Replications, tmp_path: Path) -> None:
    left = Replications(five.runs[1:2], asked=(3, 4, 5))
    assert left.seeds == [4] and (left.experiment["seed"], left.experiment["seeds"]) == (3, 3)
    left.save(tmp_path / "r")
    again = Replications.load(tmp_path / "r")
    assert again.seeds == [4] and again.asked == (3, 4, 5) and again.summary == left.summary
    assert "the first of 1: " in first_run(tmp_path / "r")[1]


def test_one_seed_is_no_replication(five: Replications) -> None:
    with pytest.raises(BloxError, match="two runs or more"):
        Replications(five.runs[:1])


def test_runs_of_one_seed_or_of_other_settings_are_refused(five: Replications) -> None:
    first, second = five.runs[:2]
    with pytest.raises(BloxError, match="several runs of seed 3\n  fix: give one run of each seed"):
        Replications((first, second, first))
    for name, value in (("scheduler", "fifo"), ("workload", "philly"), ("jobs", 41)):
        other = replace(second, experiment={**second.experiment, name: value})
        with pytest.raises(BloxError, match=f"runs of {name} .* and {value!r}\n  fix: .* seed alone"):
            Replications((first, other))
    assert Replications((first, replace(second, label="b", experiment={**second.experiment, "label": "b"})))


def test_seeds_without_end_are_refused_before_the_first_run() -> None:
    with pytest.raises(BloxError, match="seeds is 100000000\n  fix: say how many, at most 1,000"):
        SMALL.replicate(100_000_000)
