"""What the recorder works out after a run, against a plain count over jobs and stints."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(params=[5, 200], ids=["few at a time", "many at once"])
def result(request, run):
    """Bursts of jobs of several sizes: below and above the number that is counted by itself."""
    rng = np.random.default_rng(1)
    jobs = [
        (burst * 1000.0, rng.choice([1, 2, 4, 8]), rng.integers(100, 4000))
        for burst in range(4)
        for _ in range(request.param)
    ]
    rows = [(f"job-{number}", *job) for number, job in enumerate(jobs)]
    return run(rows, "2x8", scheduler="las", placement="consolidated", round_s=300.0)


def test_the_queue_and_the_demand_are_those_of_the_jobs(result):
    jobs, stints, rounds = result.jobs, result.stints, result.rounds
    submit, finish, gpus = (np.asarray(jobs[name]) for name in ("submit_s", "finish_s", "gpus"))
    for index, now in enumerate(rounds["time_s"].tolist()):
        there = (submit <= now) & (finish > now)
        on = np.unique(stints["job"][(stints["start_s"] <= now) & (stints["end_s"] > now)])
        waits = there.copy()
        waits[on] = False
        assert rounds["queued"][index] == waits.sum(), f"jobs that wait at {now} s"
        assert rounds["gpus_demanded"][index] == gpus[there].sum(), f"GPUs asked for at {now} s"
