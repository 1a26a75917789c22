"""Every family of policies runs while nodes and jobs fail, and skipping rounds changes nothing."""

import numpy as np
import pytest

from blox import Experiment, registry

HARSH = "mtbf=5h,repair=90m,job_mtbf=60h+drain:node=1,at=2h,lasts=1h,notice=30m+drain:node=0+1,at=9h,lasts=1h"
PHILLY = {"workload": "philly:load=10,max_gpus=8", "cluster": "4x4", "jobs": 25}
GAVEL = {"workload": "gavel:load=5.6,job_types=true", "cluster": "v100=2x4,p100=1x4,k80=1x4", "jobs": 10}
ELASTIC = {"workload": "elastic", "cluster": "3x4", "round_s": 60.0, "jobs": 5}
SYNERGY = {"workload": "synergy:load=9", "cluster": "3x8:cpu=24,memory_gb=500", "jobs": 15}
FAMILIES = {
    "las, consolidated": {**PHILLY, "scheduler": "las", "placement": "consolidated"},
    "las, random": {**PHILLY, "scheduler": "las", "placement": "random"},
    "srtf, profile": {**PHILLY, "scheduler": "srtf", "placement": "profile", "performance": "spread"},
    "fifo, threshold": {**PHILLY, "scheduler": "fifo", "admission": "threshold", "placement": "yarn"},
    "tiresias": {**PHILLY, "scheduler": "tiresias", "placement": "tiresias"},
    "themis": {**PHILLY, "scheduler": "themis"},
    "gavel": {**GAVEL, "scheduler": "gavel"},
    "gavel, pairs": {**GAVEL, "scheduler": "gavel:policy=max_min_fairness_packed"},
    "pollux": {**ELASTIC, "scheduler": "pollux:generations=5,population=5"},
    "optimus": {**ELASTIC, "scheduler": "optimus"},
    "synergy": {**SYNERGY, "scheduler": "srtf", "placement": "synergy:mode=tune"},
    "synergy, greedy": {**SYNERGY, "scheduler": "las", "placement": "synergy:mode=greedy"},
}
OF_THEIR_OWN = {"gavel": GAVEL, "optimus": ELASTIC, "pollux": ELASTIC, "synergy": SYNERGY}  # workloads


def every_policy():
    """The families, and every scheduler and placement that is in none of them, with its defaults."""
    tested = {str(value).partition(":")[0] for settings in FAMILIES.values() for value in settings.values()}
    schedulers = {
        name: {**OF_THEIR_OWN.get(name, PHILLY), "scheduler": name}
        for name in registry.names("scheduling")
        if name not in tested
    }
    placements = {
        f"las, {name}": {**PHILLY, "scheduler": "las", "placement": name}
        for name in registry.names("placement")
        if name not in tested
    }
    return FAMILIES | schedulers | placements


EVERY = every_policy()


def harsh(settings):
    hours = "mtbf=40m,repair=10m,job_mtbf=5h+drain:node=1,at=20m,lasts=30m,notice=10m"
    failures = hours if settings["workload"] == "elastic" else HARSH
    return Experiment(failures=failures, overheads="restart=30,checkpoint=10m,checkpoint_cost=15", **settings)


@pytest.mark.parametrize("family", EVERY)
def test_all_jobs_finish_skipped_rounds_change_nothing_and_no_job_is_on_a_node_that_is_down(family):
    experiment = harsh(EVERY[family])
    result, executed = experiment.run(), experiment.run(skip=False)
    assert result.summary == executed.summary
    for table in ("jobs", "rounds", "stints"):
        for name, column in getattr(result, table).items():
            np.testing.assert_array_equal(column, getattr(executed, table)[name])
    assert result.summary["finished"] == len(result.jobs["job_id"])
    assert result.summary["evictions"] > 0
    nothing_runs_on_a_node_that_is_down(result)
    useful, lost = result.jobs["useful_gpu_seconds"], result.jobs["lost_gpu_seconds"]
    assert (useful > 0).all()
    assert (useful + lost <= result.jobs["gpu_seconds"] * (1 + 1e-9)).all()


def test_an_elastic_job_keeps_no_work_that_it_would_have_done_after_its_failure():
    """In rounds of two hours a job fails long before the scheduler acts: its stages until then do not count.

    With failures it has to hold its GPUs for longer than without, by what it has lost."""
    jobs = {"workload": "elastic:jobs=4,max_gpus=4,load=1", "cluster": "4x4", "scheduler": "fifo"}
    settings = {**jobs, "overheads": "checkpoint=300,checkpoint_cost=1", "round_s": 7200.0, "seed": 50}
    without = Experiment(**settings).run().jobs
    failing = Experiment(failures="job_mtbf=40m", **settings).run().jobs
    lost = failing["lost_gpu_seconds"]
    assert lost.max() > 0
    np.testing.assert_allclose(failing["gpu_seconds"] - lost, without["gpu_seconds"], rtol=1e-9)


@pytest.mark.parametrize("family", ["las, consolidated", "tiresias", "gavel", "optimus"])
def test_with_the_events_clock_too(family):
    settings = {**FAMILIES[family], "clock": "events"}
    settings.pop("round_s", None)
    result = harsh(settings).run()
    assert result.summary["finished"] == len(result.jobs["job_id"])
    assert result.summary["wait_eviction_s"] == 0
    nothing_runs_on_a_node_that_is_down(result)


def nothing_runs_on_a_node_that_is_down(result):
    stints, outages = result.stints, result.tables["outages"]
    assert len(outages["node"])
    for first, count, down, up in zip(*(outages[name] for name in ("gpu", "gpus", "down_s", "up_s"))):
        here = (stints["gpu"] >= first) & (stints["gpu"] < first + count)
        assert not ((stints["start_s"][here] < up) & (stints["end_s"][here] > down)).any()
