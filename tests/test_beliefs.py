"""Beliefs: what policies take a job's duration for, while the truth stays with the backend."""

from dataclasses import replace

import numpy as np
import pytest

from blox import BloxError
from blox.beliefs import belief_from_spec
from support.by_job import figures
from support.states import job_table


def believed_durations(spec, **options):
    """A function from a batch of jobs to the durations that policies see."""
    belief = belief_from_spec(spec, **options)
    return lambda jobs: belief(jobs).columns["duration_s"]


def test_an_oracle_believes_the_truth():
    believed = believed_durations("oracle", seed=1)
    assert believed(job_table([1, 1, 1], [60.0, 3600.0, 0.5])).tolist() == [60.0, 3600.0, 0.5]


def test_noise_is_the_same_for_a_seed_and_another_for_another():
    jobs = job_table([1] * 50, 1000.0)
    first, again = (believed_durations("noisy:sigma=1", seed=3)(jobs) for _ in range(2))
    assert first.tolist() == again.tolist()
    assert (first != believed_durations("noisy:sigma=1", seed=4)(jobs)).all()


def test_batches_that_follow_one_another_are_one_stream():
    whole = believed_durations("noisy", seed=3)(job_table([1] * 30, 1000.0))
    in_parts = believed_durations("noisy", seed=3)
    parts = [in_parts(job_table([1] * count, 1000.0)) for count in (10, 15, 5)]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_noise_is_log_normal_around_the_truth():
    """Of 20,000 jobs half are believed too short, and 68 % are right within a factor of e^sigma."""
    error = np.log(believed_durations("noisy:sigma=0.7", seed=1)(job_table([1] * 20_000, 500.0)) / 500.0)
    assert np.mean(error < 0) == pytest.approx(0.5, abs=0.015)
    assert np.mean(np.abs(error) < 0.7) == pytest.approx(0.683, abs=0.015)
    assert error.std() == pytest.approx(0.7, rel=0.03)


def test_no_noise_is_the_truth():
    jobs = job_table([1] * 5, [10.0, 20.0, 30.0, 40.0, 50.0])
    assert believed_durations("noisy:sigma=0", seed=9)(jobs).tolist() == jobs.columns["duration_s"].tolist()


def test_a_policy_follows_its_belief_and_jobs_take_as_long_as_they_take(run):
    """Shortest remaining time first, by a belief that is far off: another order, the same run times."""
    jobs = [(f"job-{i}", 0, 4, 100 * (i + 1)) for i in range(6)]
    right, wrong = (
        run(jobs, scheduler="srtf", belief=belief, seed=2) for belief in ("oracle", "noisy:sigma=3")
    )
    assert figures(right, "first_start_s") == {
        "job-0": 0, "job-1": 100, "job-2": 300, "job-3": 600, "job-4": 1000, "job-5": 1500,
    }  # fmt: skip
    assert figures(wrong, "first_start_s") != figures(right, "first_start_s")
    assert figures(wrong, "run_s") == figures(right, "run_s")


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("orakle", "no belief is called 'orakle'"),
        ("noisy:sigma=much", "sigma is not a number from 0 to 10"),
        ("noisy:sigma=-1", "sigma is not a number from 0 to 10"),
        ("noisy:sigma=nan", "sigma is not a number from 0 to 10"),
        ("noisy:factor=2", "no option is called 'factor'"),
        ("oracle:sigma=1", "no option is called 'sigma'"),
    ],
)
def test_bad_beliefs_are_told_in_words(spec, what):
    with pytest.raises(BloxError) as refused:
        believed_durations(spec, seed=0)
    assert refused.value.what == what and refused.value.where == f"belief {spec!r}" and refused.value.fix


def test_a_limit_is_believed():
    jobs = replace(
        job_table([1, 1], 100.0),
        columns={**job_table([1, 1], 100.0).columns, "limit_s": np.array([3600.0, np.nan])},
    )
    assert believed_durations("limit:unlimited=7d", seed=1)(jobs).tolist() == [3600.0, 7 * 86400.0]
    with pytest.raises(BloxError, match=r"job .* has no time limit, and 1 of 2 jobs have none"):
        believed_durations("limit", seed=1)(jobs)
    with pytest.raises(BloxError, match="no option is called 'sigma'"):
        belief_from_spec("limit:sigma=1", 1)
