"""What holds in every run, whatever the jobs, the cluster and the policies."""

import numpy as np
from hypothesis import given

from support.examples import examples
from support.invariants import gangs_are_whole, no_gpu_has_two_jobs_at_a_time
from support.worlds import gpus_by_job, worlds

EXAMPLES = examples(400)


@EXAMPLES
@given(worlds())
def test_a_run_keeps_every_invariant(world):
    result = world.run()
    for invariant in (
        every_job_is_there_once_and_finishes,
        no_gpu_has_two_jobs_at_a_time,
        gangs_are_whole,
        nobody_starts_early,
        times_add_up,
        work_is_conserved,
        rounds_agree_with_stints,
    ):
        invariant(world, result)


def every_job_is_there_once_and_finishes(world, result):
    assert sorted(result.jobs["job_id"].tolist()) == sorted(job[0] for job in world.jobs)
    assert (result.jobs["state"] == "finished").all()
    assert result.summary["jobs"] == result.summary["finished"] == len(world.jobs)


def nobody_starts_early(world, result):
    jobs = result.jobs
    assert (jobs["admit_s"] >= jobs["submit_s"]).all()
    assert (jobs["first_start_s"] >= jobs["admit_s"]).all()
    assert (jobs["finish_s"] > jobs["first_start_s"]).all()
    if world.clock == "rounds":
        for name in ("admit_s", "first_start_s"):
            number = np.round(jobs[name] / world.round_s)
            assert (number * world.round_s == jobs[name]).all(), "jobs are admitted and started at boundaries"


def times_add_up(world, result):
    jobs, stints = result.jobs, result.stints
    np.testing.assert_allclose(jobs["jct_s"], jobs["finish_s"] - jobs["submit_s"])
    np.testing.assert_allclose(jobs["responsiveness_s"], jobs["first_start_s"] - jobs["submit_s"])
    np.testing.assert_allclose(jobs["queueing_s"], jobs["jct_s"] - jobs["run_s"], atol=1e-6)
    held = np.bincount(stints["job"], stints["end_s"] - stints["start_s"], minlength=len(jobs["gpus"]))
    np.testing.assert_allclose(held, jobs["gpu_seconds"])
    np.testing.assert_allclose(jobs["run_s"] * jobs["gpus"], jobs["gpu_seconds"])
    pieces = np.zeros(len(jobs["gpus"]))
    for job, _, _ in gpus_by_job(result):
        pieces[job] += 1
    np.testing.assert_array_equal(pieces, 1 + jobs["preemptions"] + jobs["moves"])


def work_is_conserved(world, result):
    """Run time less launch overheads, times the rate, is the work: exactly at full speed, else in bounds."""
    jobs = result.jobs
    position = {job[0]: job for job in world.jobs}
    work = np.array([position[name][3] for name in jobs["job_id"].tolist()])
    restarts = jobs["preemptions"] + jobs["moves"]
    if world.overheads == "launch=20,restart=45":
        least = most = 20.0 + 45.0 * restarts
    elif world.overheads == "per-model":
        least, most = 15.0 + 17.0 * restarts, 20.0 + 30.0 * restarts
    else:
        least = most = np.zeros(len(work))
    run_s = jobs["run_s"]
    if world.performance == "duration" or world.placement == "count":
        # A job that is stopped before its launch is over has paid only a part of it.
        assert (run_s <= work + most + 1e-6).all()
        assert (run_s >= work + np.where(restarts == 0, least, 0) - 1e-6).all()
        if world.overheads == "none":
            np.testing.assert_allclose(run_s, work, rtol=1e-9, atol=1e-6)
    else:  # spread jobs run at 0.14 to 1 of their speed
        assert (run_s >= work - 1e-6).all()
        assert (run_s <= work / 0.14 + most + 1e-6).all()


def rounds_agree_with_stints(world, result):
    """The table of rounds says how many GPUs were used when; so do the stints."""
    rounds, stints = result.rounds, result.stints
    assert (np.diff(rounds["time_s"]) > 0).all()
    assert (rounds["gpus_used"] + rounds["free_gpus"] == rounds["gpus_total"]).all()
    assert (rounds["gpus_total"] == world.total_gpus).all()
    for i, time_s in enumerate(rounds["time_s"].tolist()):
        now = (stints["start_s"] <= time_s) & (stints["end_s"] > time_s)
        assert now.sum() == rounds["gpus_used"][i]
        assert len(np.unique(stints["job"][now])) == rounds["running"][i]
    assert rounds["launched"].sum() == len(world.jobs) + rounds["suspended"].sum()
    assert rounds["suspended"].sum() == result.summary["preemptions"]
    assert rounds["moved"].sum() == result.summary["moves"]
    waits = [
        result.summary[f"wait_{cause}_s"] for cause in ("admission", "priority", "capacity", "fragmentation")
    ]
    assert min(waits) >= 0
