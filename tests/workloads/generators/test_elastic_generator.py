"""Elastic workloads: of our own applications, and made of any other workload."""

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.optional import declared
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


def trace_notes(file):
    return workload_from_spec(f"elastic:of={file}").table.notes


def test_any_workload_can_be_made_elastic(tmp_path):
    plain = draw(workload_from_spec("philly:load=8,jobs=300"), None, seed=2)
    workload = workload_from_spec("elastic:of=philly:load=8;jobs=300")
    assert workload.jobs == 300
    assert declared(workload, "table") is None and declared(workload, "checksum") == ""
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
    assert not any("did you mean" in note for note in (*jobs.notes, *trace.table.notes))
    file.write_text("job_id,submit_s,gpus,duration_s,model\na,0,8,90,cifar-10\n")
    assert any("'cifar-10' is no application (did you mean 'cifar10'?)" in note for note in trace_notes(file))


def test_a_limit_of_gpus_holds_for_what_is_made_elastic(tmp_path):
    workload = workload_from_spec("elastic:of=philly:load=8;jobs=400,max_gpus=4")
    assert workload.largest_gpus == 4
    plain = draw(workload_from_spec("philly:load=8,jobs=400"), None, seed=1)
    jobs = draw(workload, None, seed=1)
    asked, before = jobs.columns["gpus"], plain.columns["gpus"]
    assert before.max() > 4 and asked.tolist() == np.minimum(before, 4).tolist()
    assert jobs.columns["max_gpus"].max() == 4
    fewer = asked < before
    longer = jobs.columns["duration_s"][fewer] / plain.columns["duration_s"][fewer]
    assert (longer >= 1).all() and (longer > 1).sum() > 4, "not every application makes use of more than 4"
    assert (jobs.columns["duration_s"] == plain.columns["duration_s"])[~fewer].all()
    assert any(f"{fewer.sum()} jobs asked for more than 4 GPUs" in note for note in jobs.notes)
    done = Experiment(workload="elastic:of=philly:load=8;jobs=40,max_gpus=4", cluster="1x4", seed=1).run()
    assert done.summary["finished"] == 40
    file = tmp_path / "jobs.csv"
    file.write_text("job_id,submit_s,gpus,duration_s,model\na,0,16,1000,cifar10\n")
    table = workload_from_spec(f"elastic:of={file},max_gpus=4").table
    profile = elastic_profiles()["cifar10"]
    longer = 1000 * profile.seconds(4) / profile.seconds(16)
    assert table.columns["duration_s"].tolist() == pytest.approx([float(longer)])


def test_limits_of_batch_sizes_are_options_and_columns():
    jobs = draw(workload_from_spec("elastic:min_batch_size=100,max_batch_size=1000"), 500)
    for row, name in enumerate(jobs.columns["model"]):
        profile = elastic_profiles()[name]
        assert jobs.columns["min_batch_size"][row] == max(100, profile.initial_batch)
        assert jobs.columns["max_batch_size"][row] == (most := min(1000, profile.largest_batch))
        assert jobs.columns["max_gpus"][row] == max(most // profile.atomic[0], jobs.columns["gpus"][row])
    few = draw(workload_from_spec("elastic:max_batch_size=100"), 500)
    assert set(few.columns["model"]) == {"bert", "deepspeech2", "yolov3"}, "the others begin with more"
    with pytest.raises(BloxError, match="no application can run with max_gpus=1, max_batch_size=100"):
        workload_from_spec("elastic:max_batch_size=100,max_gpus=1")


def test_jobs_that_are_elastic_already_keep_their_limits(tmp_path):
    file = tmp_path / "jobs.csv"
    head = "job_id,submit_s,gpus,duration_s,model,min_gpus,max_gpus,min_batch_size,max_batch_size\n"
    file.write_text(head + "a,0,4,90,bert,2,8,24,96\nb,1,4,9,bert,,,,\nc,1,4,9,LSTM,3,,50000,60000\n")
    table = workload_from_spec(f"elastic:of={file}").table
    assert table.columns["min_gpus"].tolist() == [2, 1, 3]
    assert table.columns["max_gpus"].tolist()[:2] == [8, 96]
    assert table.columns["min_batch_size"].tolist()[:2] == [24, 12]
    assert table.columns["max_batch_size"].tolist()[:2] == [96, 384]
    assert table.columns["min_batch_size"][2] < 50000, "those of a model that it does not train now"


def test_wrong_options_are_told():
    with pytest.raises(BloxError, match="the load is that of"):
        workload_from_spec("elastic:of=philly,load=3")
    with pytest.raises(BloxError, match="max_gpus"):
        workload_from_spec("elastic:max_gpus=0")
