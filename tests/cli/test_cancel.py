"""`blox cancel`, with a scheduler that refuses some jobs."""

import json

import pytest

from blox.cluster.api import RequestRefused
from blox.errors import BloxError


class Scheduler:
    """Jobs 6 and 8 have ended; there is no job 9."""

    def __init__(self):
        self.cancelled = []

    def cancel(self, job):
        if job == 9:
            raise RequestRefused("there is no job 9", where="cancel", fix="`blox jobs` lists the jobs")
        if job in (6, 8):
            raise RequestRefused(f"job {job} has ended already: finished", where="cancel")
        self.cancelled.append(job)


@pytest.fixture
def scheduler(monkeypatch):
    made = Scheduler()
    monkeypatch.setattr("blox.cli.cancel.client", lambda directory: made)
    return made


def test_every_job_that_can_be_is_cancelled_and_the_others_are_named(command, scheduler):
    answer = command("cancel", 5, 6, 7, 8, 9)
    assert scheduler.cancelled == [5, 7]
    assert answer.out == "job 5 is cancelled\njob 7 is cancelled\n"
    assert answer.code != 0 and answer.err == (
        "error: cancel: job 6 has ended already: finished; job 8 has ended already: finished; "
        "there is no job 9\n  fix: `blox jobs` lists the jobs\n"
    )


def test_json_names_those_that_were_cancelled(command, scheduler):
    answer = command("cancel", 5, 6, "--json")
    assert json.loads(answer.out) == {"cancelled": [5]} and answer.code != 0


def test_without_an_answer_no_other_job_is_tried(command, scheduler, monkeypatch):
    asked = []

    def silent(job):
        asked.append(job)
        raise BloxError("the scheduler does not answer")

    monkeypatch.setattr(scheduler, "cancel", silent)
    assert command("cancel", 5, 6).code != 0 and asked == [5]
