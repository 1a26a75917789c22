"""How close simulation comes to what really happened: by hand, and with a difference that is known."""

from types import SimpleNamespace

import numpy as np
import pytest

from blox import BloxError
from blox.results.calibration import calibration

DAY_S = 86400.0


def run_of(waited_s, submit_s, gpus, tenant, duration_s=3600.0):
    count = len(waited_s)
    jobs = {
        "job_id": np.array([f"job-{at}" for at in range(count)], dtype=object),
        "submit_s": np.asarray(submit_s, dtype=np.float64),
        "gpus": np.asarray(gpus),
        "tenant": np.array(tenant, dtype=object),
        "duration_s": np.full(count, duration_s),
        "waited_s": np.asarray(waited_s, dtype=np.float64),
        "in_window": np.ones(count, dtype=np.int64),
    }
    return SimpleNamespace(experiment={}, summary={}, jobs=jobs)


def test_four_jobs_by_hand():
    """Waits of 0, 1,000, 2,000 and 9,000 s that are 300, 1,000, 2,900 and 9,800 s in simulation.

    Off by 300 (within 10 min), 0, 900 (neither) and 800 (within a tenth, 900): three of four nearly right.
    """
    days = [0.0, 10.0, DAY_S + 5, DAY_S + 6]
    shared = (days, [1, 1, 8, 8], ["x", "y", "x", "y"])
    found = calibration(run_of([300, 1000, 2900, 9800], *shared), run_of([0, 1000, 2000, 9000], *shared))
    told = {(each.by, each.group): (each.jobs, each.change.estimate, each.near) for each in found}
    assert told == {
        ("all", "all jobs"): (4, 500.0, 0.75),
        ("size", "1 GPU"): (2, 150.0, 1.0),
        ("size", "8 GPUs"): (2, 850.0, 0.5),
        ("tenant", "x"): (2, 600.0, 0.5),
        ("tenant", "y"): (2, 400.0, 1.0),
        ("time", "day 1"): (2, 150.0, 1.0),
        ("time", "day 2"): (2, 850.0, 0.5),
    }
    assert np.isnan(found[0].change.low) and not any(each.off for each in found), "two days tell nothing"


def test_where_it_is_off_is_found():
    """40 days: jobs of 8 GPUs wait an hour longer than they did, others 0 on average; y has most of them."""
    rng = np.random.default_rng(3)
    count = 2000
    submit_s = np.sort(rng.uniform(0, 40 * DAY_S, count))
    gpus = rng.choice([1, 8], count)
    real = rng.exponential(7200, count)
    noise = rng.normal(0, 300, count)
    shared = (submit_s, gpus, rng.choice(["x", "y"], count).tolist())
    found = calibration(run_of(real + noise + 3600 * (gpus == 8), *shared), run_of(real, *shared))
    by_group = {each.group: each for each in found}
    assert by_group["8 GPUs"].off and not by_group["1 GPU"].off
    assert by_group["8 GPUs"].change.low < 3600 < by_group["8 GPUs"].change.high
    assert by_group["1 GPU"].change.low < 0 < by_group["1 GPU"].change.high
    assert [each.group for each in found if each.by == "time"][:2] == ["days 1 to 5", "days 6 to 10"]


def test_runs_over_seeds_are_averaged_and_other_jobs_are_refused():
    shared = ([0.0, 1.0], [1, 1], ["", ""])
    one, two, real = (run_of(waits, *shared) for waits in ([0, 0], [200, 400], [0, 0]))
    seeds = SimpleNamespace(experiment={}, summary={}, jobs={}, runs=(one, two))
    [every] = calibration(seeds, real)
    assert every.change.estimate == 150.0
    with pytest.raises(BloxError, match="not over the jobs of the log"):
        calibration(run_of([0], [0.0], [1], [""]), real)
