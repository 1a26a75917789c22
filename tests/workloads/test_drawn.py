"""Jobs of a user's workload are held to the rules while they are drawn."""

import re

import numpy as np
import pytest

from blox.errors import BloxError
from blox.workloads.drawn import drawn
from blox.workloads.table import JobTable


def table(ids, submit_s):
    columns = {
        "job_id": ids,
        "submit_s": submit_s,
        "gpus": [1] * len(ids),
        "duration_s": [60.0] * len(ids),
    }
    return JobTable.build({name: np.array(values) for name, values in columns.items()}, source="mine")


class Own:
    def __init__(self, *batches):
        self._batches = batches

    def batches(self, rng):
        yield from self._batches


@pytest.mark.parametrize(
    ("batches", "words"),
    [
        ([[1, 2]], "batches() yields a list"),
        ([table(["a"], [10.0]), table(["b"], [5.0])], "not in order of submission near 10 s"),
        ([table(["a"], [0.0]), table(["a"], [5.0])], "the job_id 'a' is used twice"),
        ([], "no jobs"),
    ],
)
def test_a_broken_rule_is_told(batches, words):
    with pytest.raises(BloxError, match=re.escape(words)):
        list(drawn(Own(*batches), np.random.default_rng(0)))


def test_jobs_by_the_rules_pass_as_they_are():
    batches = [table(["a"], [0.0]), table(["b", "c"], [0.0, 3.0])]
    assert list(drawn(Own(*batches), np.random.default_rng(0))) == batches
