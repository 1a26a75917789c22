"""Elastic workloads: of our own applications, and made of any other workload."""

import numpy as np
import pytest

from blox.errors import BloxError
from blox.profiles.elastic import elastic_profiles
from blox.workloads.spec import draw, workload_from_spec


def test_jobs_are_those_of_the_applications():
    jobs = draw(workload_from_spec("elastic:load=40"), 5000, seed=1)
    known = elastic_profiles()
    models, counts = np.unique(jobs.columns["model"].astype(str), return_counts=True)
    assert set(models) == set(known)
    for name, count in zip(models.tolist(), counts.tolist()):
        assert count / 5000 == pytest.approx(known[name].share, abs=0.02)
    for row in range(200):
        profile = known[jobs.columns["model"][row]]
        assert jobs.columns["gpus"][row] in profile.gpus
        assert jobs.columns["min_gpus"][row] == 1
        assert jobs.columns["max_gpus"][row] == max(profile.most_gpus, jobs.columns["gpus"][row])
    assert 5000 / (jobs.columns["submit_s"][-1] / 3600) == pytest.approx(40, rel=0.05)


def test_the_same_seed_gives_the_same_jobs_however_many():
    some, more = (draw(workload_from_spec("elastic"), n, seed=4) for n in (50, 5000))
    for name in some.columns:
        assert some.columns[name].tolist() == more.columns[name][:50].tolist()


def test_a_limit_holds_for_what_jobs_ask_for_and_for_what_they_can_use():
    workload = workload_from_spec("elastic:max_gpus=8")
    jobs = draw(workload, 2000)
    assert jobs.columns["gpus"].max() == workload.largest_gpus == 8
    assert jobs.columns["max_gpus"].max() == 8
    assert "imagenet" not in set(jobs.columns["model"]), "asks for 24 at least"


def test_any_workload_can_be_made_elastic(tmp_path):
    plain = draw(workload_from_spec("philly:load=8,jobs=300"), None, seed=2)
    workload = workload_from_spec("elastic:of=philly:load=8;jobs=300")
    assert workload.jobs == 300 and not hasattr(workload, "table") and not hasattr(workload, "checksum")
    jobs = draw(workload, None, seed=2)
    for name in ("submit_s", "gpus", "duration_s", "user"):
        assert jobs.columns[name].tolist() == plain.columns[name].tolist()
    assert (jobs.columns["min_gpus"] == 1).all() and (jobs.columns["max_gpus"] >= jobs.columns["gpus"]).all()
    assert set(jobs.columns["model"]) <= set(elastic_profiles())
    file = tmp_path / "jobs.csv"
    file.write_text("job_id,submit_s,gpus,duration_s,model,batch_size\na,0,8,90,bert,48\nb,1,1,9,LSTM,64\n")
    trace = workload_from_spec(f"elastic:of={file}")
    assert len(trace.table) == 2 and len(trace.checksum) == 64 and trace.files() == [file]
    assert trace.table.columns["model"][0] == "bert"
    assert trace.table.columns["batch_size"].tolist() == [48, 0]


def test_wrong_options_are_told():
    with pytest.raises(BloxError, match="the load is that of"):
        workload_from_spec("elastic:of=philly,load=3")
    with pytest.raises(BloxError, match="max_gpus"):
        workload_from_spec("elastic:max_gpus=0")
