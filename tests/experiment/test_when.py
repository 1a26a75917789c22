"""When a job would start if it were submitted in the middle of a run."""

from dataclasses import replace

import numpy as np
import pytest

from blox import Experiment
from blox.errors import BloxError
from blox.experiment.when import when
from support.worlds import World

RUN = Experiment(workload="philly:load=40,max_gpus=4", jobs=120, cluster="4x4", performance="duration")


def two_jobs(**settings):
    """One GPU: by fifo, a has it until 3000 s and b until 4200 s; by srtf, b from 300 to 1500 s."""
    jobs = (("a", 0.0, 1, 3000.0, "", "", "", "", 0), ("b", 300.0, 1, 1200.0, "", "", "", "", 0))
    return World(jobs, (1,), **settings).experiment().prepare()


def test_behind_those_that_wait_or_before_them():
    for scheduler, start in (("fifo", 4200.0), ("srtf", 1500.0)):
        found = when(two_jobs(scheduler=scheduler), 700.0, gpus=1, duration_s=600.0, belief="oracle")
        assert found.at_s == 900.0, "the first round after it comes"
        assert found.start_s.tolist() == [start] and found.finish_s.tolist() == [start + 600.0]
        assert (found.running, found.waiting, found.finished) == (1, 1, 0)
        assert found.starts_in(50) == [start - 900.0]


def test_the_truth_is_what_a_run_with_that_job_gives():
    """The same jobs and one more at the end, in a trace."""
    jobs = tuple((f"j{i}", 100.0 * i, 1 + i % 2, 900.0 + 300.0 * i, "", "", "", "", 0) for i in range(9))
    more = (*jobs, ("more", 1200.0, 2, 1000.0, "", "", "", "", 0))
    for scheduler in ("las", "srtf", "fifo:strict=false"):
        whole = World(more, (2, 2), scheduler=scheduler).run().jobs
        prepared = World(jobs, (2, 2), scheduler=scheduler).experiment().prepare()
        found = when(prepared, 1200.0, gpus=2, duration_s=1000.0, belief="oracle")
        assert found.start_s[0] == whole["first_start_s"][-1], scheduler
        assert found.finish_s[0] == whole["finish_s"][-1], scheduler


def test_beliefs_give_a_spread_and_the_same_one_again():
    found, again = (
        when(replace(RUN, scheduler="fifo").prepare(), 4 * 3600.0, gpus=4, duration_s=600.0, samples=12)
        for _ in range(2)
    )
    assert found.start_s.tolist() == again.start_s.tolist() and len(found.start_s) == 12
    low, middle, high = found.starts_in(10, 50, 90)
    assert 0 <= low <= middle <= high < np.inf and low < high
    assert len(when(RUN.prepare(), 4 * 3600.0, gpus=4, duration_s=600.0, belief="none").start_s) == 1


def test_the_origin_goes_on_as_if_nothing_had_been_asked():
    prepared = replace(RUN, scheduler="las").prepare()
    before = prepared.run()
    when(prepared, 3600.0, gpus=4, duration_s=600.0)
    assert prepared.run().jobs["finish_s"].tolist() == before.jobs["finish_s"].tolist()


@pytest.mark.parametrize(
    ("settings", "question", "words"),
    [
        ({}, {"gpus": 17}, "asks for 17 GPUs, and the cluster has 16"),
        ({}, {"at_s": 1e7}, "the run ends after"),
        ({}, {"belief": "guess"}, "no belief is called"),
        ({"belief": "noisy"}, {"belief": "oracle"}, "true durations"),
        ({"compat": "blox:policy=Las"}, {}, "a preset behaves like another system"),
        ({"backend": "replay"}, {}, "in real time"),
        ({}, {"columns": {"colour": "red"}}, "no column is called 'colour'"),
    ],
)
def test_what_cannot_be_answered_is_told_in_words(settings, question, words):
    asked = {"at_s": 3600.0, "gpus": 4, "duration_s": 600.0, **question}
    base = replace(RUN, performance="auto") if settings else RUN
    with pytest.raises(BloxError, match=words) as fault:
        when(replace(base, **settings).prepare(), asked.pop("at_s"), **asked)
    assert fault.value.fix
