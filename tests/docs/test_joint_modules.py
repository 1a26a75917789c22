"""A module that admits and schedules at once, as docs/writing-a-policy.md has it: one memory, two verbs."""

import dataclasses
import re

import pytest

from support.places import ROOT
from support.worlds import World

PAGE = (ROOT / "docs" / "writing-a-policy.md").read_text()


@pytest.fixture
def tickets(tmp_path):
    (tmp_path / "tickets.py").write_text(
        re.search(r"as `tickets.py`:\n\n```python\n(.*?)^```$", PAGE, re.M | re.S)[1]
    )
    return f"{tmp_path}/tickets.py:Tickets"


def world(*jobs):
    """One GPU: (user, submission, duration) of each job."""
    rows = tuple((f"j{i}", at, 1, length, user, "", "", "", 0) for i, (user, at, length) in enumerate(jobs))
    return World(rows, (1,)).experiment()


def test_tickets_drawn_at_admission_decide_the_order(tickets):
    """ann has the tickets 1, 2 and 3; bob comes while 1 runs, draws 2, and goes before ann's third."""
    experiment = world(("ann", 0.0, 600.0), ("ann", 0.0, 600.0), ("ann", 0.0, 600.0), ("bob", 300.0, 600.0))
    generous = f"{tickets}:factor=9"
    joint = dataclasses.replace(experiment, admission=generous, scheduler=generous).run()
    assert joint.jobs["first_start_s"].tolist() == [0.0, 600.0, 1800.0, 1200.0]
    alone = dataclasses.replace(experiment, scheduler=generous).run()
    assert alone.jobs["first_start_s"].tolist() == [0.0, 600.0, 1200.0, 1800.0], (
        "no tickets without admission"
    )


def test_both_verbs_count(tickets):
    experiment = world(*(("ann", 0.0, 600.0) for _ in range(3)))
    joint = dataclasses.replace(experiment, admission=f"{tickets}:factor=1", scheduler=tickets).run()
    assert joint.jobs["admit_s"].tolist() == [0.0, 600.0, 1200.0], "one at a time is within the factor"


def test_a_synthesizer_chooses_among_joint_modules_too(tickets):
    experiment = world(("ann", 0.0, 600.0), ("ann", 0.0, 600.0), ("bob", 300.0, 300.0))
    auto = f"scheduler=fifo,{tickets};admission=accept-all,{tickets};every=1"
    result = dataclasses.replace(experiment, auto=auto).run()
    assert result.summary["finished"] == 3 and result.summary["choices"] > 0
