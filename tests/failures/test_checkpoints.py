"""What a job keeps when it loses its GPUs, also where its rate has changed since it started."""

import numpy as np
import pytest

from blox.errors import BloxError
from blox.failures.checkpoints import Checkpoints
from blox.performance.overheads import Overheads, overheads_from_spec
from blox.state import progress
from support.states import admitted

ROW = np.array([0])


@pytest.fixture
def job():
    """A job that holds a GPU since 100 s, works since 110 s at rate 2, and had done 50 s before."""
    state = admitted([1])
    state.now = 100.0
    progress.report(state, ROW, np.array([50.0]), 100.0)
    state.start(ROW, np.array([1]), 2.0, 110.0)
    return state


def saved(job, at, overheads):
    return Checkpoints(overheads).saved_s(ROW, at, job).tolist()


def test_without_checkpoints_a_job_keeps_what_it_had_when_it_started(job):
    assert saved(job, 5000.0, Overheads()) == [50.0]


def test_work_is_saved_at_the_end_of_every_interval(job):
    every = Overheads(checkpoint_s=100.0)
    assert saved(job, 105.0, every) == [50.0]  # it has not begun to work
    assert saved(job, 209.9, every) == [50.0]
    assert saved(job, 210.0, every) == [50.0 + 2 * 100]
    assert saved(job, 569.0, every) == [50.0 + 2 * 400]


def test_an_interval_is_the_work_and_what_saving_it_takes(job):
    every = Overheads(checkpoint_s=100.0, checkpoint_cost_s=25.0)
    assert every.working_share == 0.8
    assert saved(job, 234.0, every) == [50.0]
    assert saved(job, 235.0, every) == [50.0 + 2 * 125]  # at a rate that is 0.8 of the job's


def test_a_change_of_rate_does_not_shift_the_checkpoints(job):
    """Saved at 210 (250 s done); from 260 on at rate 1: at 310 it has done 350 + 50."""
    checkpoints = Checkpoints(Overheads(checkpoint_s=100.0))
    job.now = 260.0
    checkpoints.note(ROW, 260.0, job)
    progress.rebase(job, ROW)
    progress.set_rate(job, ROW, 1.0)
    assert checkpoints.saved_s(ROW, 309.0, job).tolist() == [250.0]
    assert checkpoints.saved_s(ROW, 310.0, job).tolist() == [400.0]
    job.now = 400.0
    checkpoints.note(ROW, 400.0, job)
    progress.rebase(job, ROW)
    progress.set_rate(job, ROW, 3.0)
    assert checkpoints.saved_s(ROW, 405.0, job).tolist() == [400.0]
    assert checkpoints.saved_s(ROW, 410.0, job).tolist() == [350.0 + 140 + 30]


def test_another_stint_begins_anew(job):
    checkpoints = Checkpoints(Overheads(checkpoint_s=100.0))
    job.now = 260.0
    checkpoints.note(ROW, 260.0, job)
    progress.rebase(job, ROW)
    job.stop(ROW, 300.0)
    job.now = 1000.0
    job.start(ROW, np.array([1]), 1.0, 1000.0)
    assert checkpoints.saved_s(ROW, 1099.0, job).tolist() == [430.0]
    assert checkpoints.saved_s(ROW, 1100.0, job).tolist() == [530.0]


@pytest.mark.parametrize(
    ("spec", "overheads"),
    [
        ("checkpoint=30m", Overheads(checkpoint_s=1800.0)),
        ("restart=1m,checkpoint=1800,checkpoint_cost=20", Overheads(0.0, 60.0, False, None, 1800.0, 20.0)),
        ("per-model,checkpoint=1h", Overheads(per_model=True, checkpoint_s=3600.0)),
        ("checkpoint=never", Overheads()),
    ],
)
def test_checkpoints_are_written_among_the_overheads(spec, overheads):
    assert overheads_from_spec(spec) == overheads


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("checkpoint=0", "checkpoint is 0"),
        ("checkpoint=-5", "'-5' is not a duration"),
        ("checkpoint=nan", "'nan' is not a duration"),
        ("checkpoint_cost=20", "checkpoint_cost without checkpoint"),
        ("launch=never", "launch is never over"),
        ("per-model,launch=5", "launch=5 is not an overhead"),
    ],
)
def test_checkpoints_that_make_no_sense_are_refused(spec, words):
    with pytest.raises(BloxError, match=words):
        overheads_from_spec(spec)
