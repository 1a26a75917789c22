"""Elastic jobs in the loop: their speed follows GPUs, nodes, batch size and stage; resizing is a move."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from blox import Experiment, Schedule
from blox.errors import BloxError
from blox.performance.elastic import STAGES, Goodput, batch_asked_for, limits_of
from blox.performance.overheads import overheads_from_spec
from blox.profiles.elastic import elastic_profile
from blox.report.words import remarks
from support.runs import run_with
from support.traces import WITH_MODEL, trace

ELASTIC = f"{WITH_MODEL},min_gpus,max_gpus,batch_size"
LIMITED = f"{WITH_MODEL},min_gpus,max_gpus,min_batch_size,batch_size,max_batch_size"


def run_elastic(tmp_path, jobs, scheduler=None, **settings):
    """Runs elastic jobs by their goodput, under FIFO or a scheduler of the test's own."""
    given: dict[str, Any] = {"cluster": "4x4", "performance": "goodput", "round_s": 60.0, **settings}
    experiment = Experiment(workload=trace(tmp_path / "jobs.csv", jobs, ELASTIC), **given)
    return run_with(experiment, **({"scheduler": scheduler} if scheduler else {}))


@dataclass(frozen=True)
class Grants:
    """Pins job 0 to GPUs that change at times; with batch sizes."""

    steps: tuple[tuple[float, tuple[int, ...], int], ...]

    def schedule(self, job_state, cluster_state):
        now = [step for step in self.steps if step[0] <= job_state.now][-1]
        jobs = job_state.active
        return Schedule(
            jobs,
            gpus=np.full(len(jobs), len(now[1])),
            pinned={int(row): now[1] for row in jobs},
            config=np.full(len(jobs), float(now[2])),
        )


@dataclass(frozen=True)
class Sizes:
    """Says how many GPUs and which batch size everybody gets, and leaves the places to the placement."""

    steps: tuple[tuple[float, int, int], ...]

    def schedule(self, job_state, cluster_state):
        _, gpus, batch = [step for step in self.steps if step[0] <= job_state.now][-1]
        jobs = job_state.active
        return Schedule(jobs, gpus=np.full(len(jobs), gpus), config=np.full(len(jobs), float(batch)))


@pytest.mark.parametrize("placement", ["first-free", "consolidated", "count"])
def test_sizes_and_batches_hold_with_any_placement(tmp_path, placement):
    job = ["a,0,4,5000,cifar10,1,16,512"]
    for steps in (((0.0, 4, 512),), ((0.0, 4, 2048),), ((0.0, 2, 512), (600.0, 4, 1024), (1200.0, 4, 512))):
        pins = tuple((time, tuple(range(gpus)), batch) for time, gpus, batch in steps)
        free = run_elastic(tmp_path, job, Sizes(steps), placement=placement, overheads="launch=30,restart=30")
        held = run_elastic(tmp_path, job, Grants(pins), overheads="launch=30,restart=30")
        for column in ("jct_s", "gpu_seconds", "moves"):
            assert free.jobs[column].tolist() == held.jobs[column].tolist()


def test_elastic_jobs_and_policies_bring_their_speeds_along():
    for settings in ({"workload": "elastic:jobs=1"}, {"scheduler": "pollux"}, {"scheduler": "optimus"}):
        assert isinstance(Experiment(**settings).prepare().composition.performance, Goodput)
    named = Experiment(workload="elastic:jobs=1", performance="duration").prepare()
    assert not isinstance(named.composition.performance, Goodput)


def test_on_what_it_asks_for_a_job_takes_its_duration(tmp_path):
    result = run_elastic(tmp_path, ["a,0,4,5000,cifar10,1,16,", "b,0,2,700,bert,1,8,24", "c,0,1,90,other,,,"])
    np.testing.assert_allclose(result.jobs["jct_s"], [5000, 700, 90])


def test_more_gpus_help_less_than_in_proportion_and_a_larger_batch_helps_them(tmp_path):
    job = ["a,0,4,5000,cifar10,1,16,512"]
    times = {
        (gpus, batch): float(
            run_elastic(tmp_path, job, Grants(((0.0, tuple(range(gpus)), batch),))).jobs["jct_s"][0]
        )
        for gpus, batch in ((1, 512), (2, 512), (4, 512), (8, 512), (8, 2048))
    }
    assert times[4, 512] == pytest.approx(5000)
    assert times[1, 512] > times[2, 512] > times[4, 512]
    assert times[8, 512] > 5000, "a small batch on two nodes waits for the network"
    assert times[8, 2048] < 5000 < 2 * times[8, 2048]


def test_a_resize_is_a_move_and_an_adjustment_is_not(tmp_path):
    job = ["a,0,4,5000,cifar10,1,16,512"]
    grown = Grants(((0.0, (0, 1), 512), (600.0, (0, 1, 2, 3), 512), (1200.0, (0, 1, 2, 3), 1024)))
    free = run_elastic(tmp_path, job, grown)
    assert free.jobs["moves"].tolist() == [1] and free.jobs["preemptions"].tolist() == [0]
    paid = run_elastic(tmp_path, job, grown, overheads="launch=10,restart=500,resize=50")
    assert float(paid.jobs["jct_s"][0] - free.jobs["jct_s"][0]) == pytest.approx(60, abs=15)
    assert free.jobs["gpu_seconds"][0] == pytest.approx(600 * 2 + (free.jobs["jct_s"][0] - 600) * 4)


def test_resizing_costs_a_restart_where_nothing_else_is_said():
    assert overheads_from_spec("launch=1,restart=2").resize_s is None
    assert overheads_from_spec("launch=1,restart=2,resize=3").resize_s == 3
    with pytest.raises(BloxError, match="not an overhead"):
        overheads_from_spec("resizing=3")


def test_stages_add_up_to_the_duration():
    profile = elastic_profile("cifar10")
    assert batch_asked_for(profile, 4, 640, 4, limits_of(profile)) == 640
    best = batch_asked_for(profile, 4, 0, 4, limits_of(profile))
    assert profile.initial_batch < best < profile.largest_batch
    assert batch_asked_for(profile, 4, 0, 4, limits_of(profile, largest=best // 2)) <= best // 2
    assert batch_asked_for(profile, 4, 0, 4, limits_of(profile, smallest=2 * best)) >= 2 * best
    assert STAGES == 10
    with pytest.raises(BloxError, match="cannot be read"):
        Goodput(profiles="no.toml")


def limited(tmp_path, *jobs, scheduler="fifo", **settings):
    workload = trace(tmp_path / "limited.csv", jobs, LIMITED)
    return Experiment(workload=workload, cluster="4x4", scheduler=scheduler, round_s=60.0, **settings)


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ("a,0,4,5000,cifar10,1,16,,64,", "batch_size is 64, and cifar10 trains with 128 to 4096"),
        ("a,0,4,5000,cifar10,1,16,,99999,", "batch_size is 99999, and cifar10 trains with 128 to 4096"),
        ("a,0,4,5000,cifar10,1,16,9000,,", "min_batch_size is 9000, and cifar10 trains with 128 to 4096"),
        ("a,0,4,5000,cifar10,1,16,,,99", "max_batch_size is 99, and cifar10 trains with 128 to 4096"),
    ],
)
def test_batch_sizes_that_an_application_cannot_have_are_refused(tmp_path, job, says):
    with pytest.raises(BloxError, match=says) as caught:
        limited(tmp_path, "z,0,1,9,cifar10,,,,512,", job).prepare()
    assert caught.value.where == f"{tmp_path / 'limited.csv'}:3" and caught.value.fix
    rigid = limited(tmp_path, job.replace("cifar10,1,16", "other,1,16")).prepare()
    assert isinstance(rigid.composition.performance, Goodput), "of no known application: nothing to be said"


def test_models_of_no_application_are_told_once_a_run(tmp_path):
    jobs = [
        "a,0,2,500,cifar-10,1,4,",
        "b,0,2,500,cifar-10,1,4,",
        "c,0,1,500,mine,1,1,",
        "d,0,1,500,bert,1,4,",
    ]
    (told,) = remarks(run_elastic(tmp_path, jobs))
    assert "scale in proportion to their GPUs: 'cifar-10' (did you mean 'cifar10'?)" in told
    assert remarks(run_elastic(tmp_path, jobs[2:])) == [], "a rigid job does not scale"
    assert remarks(run_elastic(tmp_path, jobs, performance="duration")) == []
    many = [f"j{number},0,1,9,{number}{number}{number},1,2," for number in range(8)]
    (told,) = remarks(run_elastic(tmp_path, [*many, "z,0,1,9,,1,2,"]))
    assert told.endswith(": none given, '000', '111', '222', '333' and 4 more")


MINE = """from dataclasses import dataclass

from blox.workloads.table import JobTable


@dataclass(frozen=True)
class Mine:
    def batches(self, rng):
        job = {"job_id": ["a"], "submit_s": [0.0], "gpus": [1], "duration_s": [9.0]}
        yield JobTable.build({**job, "model": ["bert"], "batch_size": [4]}, source="mine")
"""


def test_a_generator_is_held_to_them_too(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    with pytest.raises(BloxError, match="batch_size is 4, and bert trains with 12 to 384"):
        Experiment(workload=f"{tmp_path}/mine.py:Mine", performance="goodput").run()


def test_a_batch_size_out_of_a_jobs_limits_cannot_be_set(tmp_path):
    job = "a,0,4,5000,cifar10,1,16,256,512,1024"
    for batch, fine in ((256, True), (1024, True), (128, False), (2048, False)):
        experiment, policy = limited(tmp_path, job), Sizes(((0.0, 4, batch),))
        if fine:
            assert run_with(experiment, scheduler=policy).summary["finished"] == 1
        else:
            with pytest.raises(BloxError, match=f"'a' is given a batch of {batch}, and can be set to 256 to"):
                run_with(experiment, scheduler=policy)


@pytest.mark.parametrize("scheduler", ["pollux:generations=5", "pollux:generations=5,beliefs=oracle"])
def test_pollux_keeps_to_the_limits_of_batch_sizes(tmp_path, scheduler):
    times = {}
    for low, high in (("", ""), (1000, 1000), ("", 300), (2000, "")):
        experiment = limited(tmp_path, f"a,0,4,15000,cifar10,1,16,{low},,{high}", scheduler=scheduler)
        result = experiment.run()  # which refuses a batch size out of the limits
        times[low, high] = float(result.jobs["jct_s"][0])
        used = result.jobs["gpu_seconds"][0] / result.jobs["run_s"][0]
        assert used <= (int(high) // 32 if high else 16)
    assert max(times.values()) > min(times.values())


@pytest.mark.parametrize("form", ["replica", "parameter-server"])
def test_optimus_gives_no_gpu_less_than_the_smallest_batch(tmp_path, form):
    # a batch of 12 stays, and bert gives a GPU 4 at least
    used = []
    for batch in (12, 384):
        job = f"a,0,2,50000,bert,1,16,,{batch},"
        jobs = limited(tmp_path, job, scheduler=f"optimus:form={form}").run().jobs
        used.append(jobs["gpu_seconds"][0] / jobs["run_s"][0])
    assert used[0] == pytest.approx(3) and used[1] > 3


def test_all_schedulers_go_by_the_same_speeds(tmp_path):
    elastic, rigid = "a,0,4,5000,cifar10,1,16,,,", "a,0,4,5000,other,,,,,"
    for scheduler in ("fifo", "las", "pollux", "optimus", "gavel"):
        prepared = limited(tmp_path, elastic, scheduler=scheduler).prepare()
        assert isinstance(prepared.composition.performance, Goodput), scheduler
        assert prepared.run().experiment["provenance"]["performance"] == "goodput"
    assert not isinstance(limited(tmp_path, rigid).prepare().composition.performance, Goodput)
    named = limited(tmp_path, elastic, performance="duration").run()
    assert "performance" not in named.experiment["provenance"]


def test_a_job_larger_than_the_cluster_runs_where_it_can_be_resized(tmp_path):
    wide = "a,0,64,1000,imagenet,1,64,,,"
    for scheduler in ("pollux", "optimus", "themis"):
        result = limited(tmp_path, wide, scheduler=scheduler).run()
        assert result.summary["finished"] == 1 and result.jobs["jct_s"][0] > 1000
    with pytest.raises(BloxError, match="asks for 64 GPUs, and the cluster has 16") as caught:
        limited(tmp_path, wide).prepare()
    assert "a scheduler that resizes jobs (pollux, optimus, themis)" in caught.value.fix
    with pytest.raises(BloxError, match="needs 32 GPUs, and the cluster has 16") as caught:
        limited(tmp_path, "a,0,64,1000,imagenet,32,64,,,", scheduler="pollux").prepare()
    assert "resizes" not in caught.value.fix
    for scheduler in ("optimus", "themis"):
        drawn = Experiment(workload="elastic:jobs=20,load=60", cluster="2x4", scheduler=scheduler, seed=1)
        assert drawn.run().summary["finished"] == 20


def test_themis_has_nothing_to_say_of_rigid_jobs(tmp_path):
    rigid = limited(tmp_path, "a,0,4,500,cifar10,,,,,", scheduler="themis").run()
    assert "resizable_jobs" not in rigid.summary and remarks(rigid) == []
    elastic = limited(tmp_path, "a,0,4,500,cifar10,1,8,,,", scheduler="themis").run()
    assert elastic.summary["resizable_jobs"] == 1 and remarks(elastic) == []


@pytest.mark.parametrize("scheduler", ["las", "srtf", "fifo:strict=false,preempt=true"])
def test_passing_rounds_over_changes_nothing(scheduler):
    experiment = Experiment(
        workload="elastic:jobs=40,load=60,max_gpus=16", cluster="8x4", performance="goodput",
        scheduler=scheduler, overheads="launch=20,restart=40", round_s=60.0, seed=3,
        placement="consolidated:fallback=spread",
    )  # fmt: skip
    one, other = experiment.run(skip=True), experiment.run(skip=False)
    for name in one.jobs:
        np.testing.assert_array_equal(one.jobs[name], other.jobs[name])


def test_jobs_report_what_they_do(tmp_path):
    seen = []

    @dataclass(frozen=True)
    class Looks:
        def schedule(self, job_state, cluster_state):
            if len(job_state.active):
                seen.append([float(job_state.metric(name)[0]) for name in ("atomic", "step_s", "grad_var")])
            return Schedule.ordered(job_state)

    run_elastic(tmp_path, ["a,0,2,5000,cifar10,1,16,256"], Looks())
    assert np.isnan(seen[0]).all(), "before it has run, nothing is known"
    assert seen[1][0] == 128 and seen[1][1] > 0
    assert seen[-1][2] > seen[1][2], "gradients become noisier"
