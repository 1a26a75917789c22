"""What the page is given of a run: its cluster, its jobs, its rounds, its events and its curves."""

from itertools import pairwise

import numpy as np
import pytest

from blox.errors import BloxError
from blox.results.replications import Replications
from blox.ui.film.cluster import cluster_of
from blox.ui.film.curves import curves_of
from blox.ui.film.events import event_times, policies_told, reigns
from blox.ui.film.film import film_of
from blox.ui.film.runs import filmed
from support.packed import unpacked


def test_a_film_has_every_job_and_stint(one):
    result = one().result
    header, arrays = unpacked(film_of(result, "las", "a note"))
    assert header["ids"] == result.jobs["job_id"].tolist() and header["label"] == "las"
    assert header["cluster"]["nodes"][2] == ["node-2", 4, "gpu", 0]
    np.testing.assert_array_equal(arrays["submit_s"], result.jobs["submit_s"])
    assert len(arrays["stint_job"]) == len(result.stints["job"])
    assert arrays["lane_first"][-1] == len(arrays["stint_job"])
    tenants = [header["names"]["tenant"][code] for code in arrays["job_tenant"]]
    assert tenants == result.jobs["tenant"].tolist()


def test_racks_are_told_and_a_cluster_that_is_gone_is_not_made_up(one):
    result = one(cluster="4x2:racks=2").result
    assert [rack for *_, rack in cluster_of(result)["nodes"]] == [0, 0, 1, 1]
    result.experiment["cluster"] = "gone.toml"
    found = cluster_of(result)
    assert sum(gpus for _, gpus, *_ in found["nodes"]) == 8 and "by number" in found["note"]


def test_preemptions_and_failures_can_be_jumped_to(one):
    rounds = one().result.rounds
    found = event_times(one().result)
    assert len(found["preemption"]) and not len(found["failure"])
    assert set(found["preemption"]) == set(rounds["time_s"][rounds["suspended"] + rounds["moved"] > 0])
    failing = one(failures="random:mtbf=20h,repair=2h").result
    down = event_times(failing)["failure"]
    assert set(failing.tables["outages"]["down_s"]) <= set(down) and (np.diff(down) > 0).all()


def test_changes_of_policy_are_those_of_the_synthesizer(one):
    result = one("fifo", auto="scheduler=fifo,srtf,every=2").result
    told = reigns(result)
    assert [since for since, _ in told[1:]] == event_times(result)["policy"].tolist()
    assert len(told) > 1 and all(before != after for (_, before), (_, after) in pairwise(told))
    assert reigns(one().result) == [(0.0, "las")]
    assert policies_told({"scheduler": "las", "placement": "consolidated"}) == "las + consolidated"


def test_the_average_builds_up_to_the_figure_of_the_summary(one):
    result = one().result
    curves = curves_of(result)
    finished = result.jobs["jct_s"][~np.isnan(result.jobs["finish_s"])]
    assert np.isclose(curves["curve_jct"][-1], finished.mean())
    assert np.nanmax(curves["curve_utilisation"]) <= 100


def test_all_runs_of_a_comparison_are_filmed_and_one_of_several_seeds(one, tmp_path):
    (tmp_path / "compare.toml").touch()
    one("fifo").result.save(tmp_path / "a")
    Replications((one(seed=5).result, one(seed=6).result)).save(tmp_path / "b")
    found = filmed([tmp_path])
    assert [(each.result.label, each.folder.name) for each in found] == [("fifo", "a"), ("las", "seed-5")]
    assert [each.note != "" for each in found] == [False, True] and "the first of 2" in found[1].note


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(BloxError, match="no such directory"):
        filmed([tmp_path / "absent"])
