"""With true durations as beliefs, backfilling gives what a naive second simulator gives, start by start."""

import random

import numpy as np
import pytest

from blox import Experiment
from support.naive_batch import naive

POLICIES = {"fcfs": "fifo", "easy": "backfill:kind=easy", "conservative": "backfill:kind=conservative"}


def rigid(seed, count=60, gpus=16):
    """Jobs of 1 to `gpus` GPUs, in order of submission, that keep the cluster busy."""
    rng, now, jobs = random.Random(seed), 0, []
    for _ in range(count):
        now += rng.choice((0, 0, 1, 3, 9))
        jobs.append((now, rng.choice((1, 1, 2, 3, 4, 8, gpus)), rng.randrange(1, 40)))
    return jobs


def starts(jobs, gpus, scheduler, tmp_path, **settings):
    trace = tmp_path / "trace.csv"
    lines = [f"{row},{submit},{need},{seconds}" for row, (submit, need, seconds) in enumerate(jobs)]
    trace.write_text("job_id,submit_s,gpus,duration_s\n" + "\n".join(lines))
    common = {"workload": str(trace), "cluster": f"1x{gpus}", "placement": "count", "clock": "events"}
    result = Experiment(**{**common, **settings}, scheduler=scheduler).run()
    return result.jobs["first_start_s"].tolist()


@pytest.mark.parametrize("kind", POLICIES)
@pytest.mark.parametrize("seed", range(8))
def test_every_start_is_that_of_the_naive_simulator(kind, seed, tmp_path):
    jobs = rigid(seed)
    assert starts(jobs, 16, POLICIES[kind], tmp_path) == naive(jobs, 16, kind)


@pytest.mark.parametrize("kind", ["fcfs", "easy"])
def test_average_wait_and_bounded_slowdown_agree(kind, tmp_path):
    """On 300 jobs; a job shorter than 10 s counts as one of 10 s."""
    jobs = rigid(99, count=300)
    submit, length = np.array([job[0] for job in jobs]), np.array([job[2] for job in jobs])
    found = []
    for each in (starts(jobs, 16, POLICIES[kind], tmp_path), naive(jobs, 16, kind)):
        waited = np.array(each) - submit
        slowdown = np.maximum((waited + length) / np.maximum(length, 10), 1)
        found.append((waited.mean(), slowdown.mean()))
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    assert found[0][0] > 10, "jobs do wait"


@pytest.mark.parametrize("kind", ["easy", "conservative"])
def test_one_gpu_per_node_or_one_node_is_the_same_to_jobs_that_may_be_spread(kind, tmp_path):
    """The rule for nodes is asked for every job, and finds what counting finds where any GPUs will do."""
    jobs = rigid(5)
    by_node = {"cluster": "16x1", "placement": "consolidated:fallback=spread"}
    assert starts(jobs, 16, POLICIES[kind], tmp_path, **by_node) == naive(jobs, 16, kind)
