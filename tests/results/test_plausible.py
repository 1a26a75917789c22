"""Times that contradict one another are not given out as results."""

import numpy as np
import pytest

from blox.errors import BloxError
from blox.results.plausible import check_times


def jobs(**changes):
    """Two jobs: one has finished, one has not started."""
    nan = np.nan
    columns = {
        "job_id": np.array(["a", "b"], dtype=object), "gpus": [1, 8],
        "submit_s": [0.0, 10.0], "admit_s": [0.0, 10.0],
        "first_start_s": [100.0, nan], "finish_s": [400.0, nan], "jct_s": [400.0, nan],
        "responsiveness_s": [100.0, nan], "queueing_s": [100.0, nan], "run_s": [300.0, 0.0],
        "gpu_seconds": [300.0, 0.0],
    }  # fmt: skip
    return {name: np.array(values) for name, values in {**columns, **changes}.items()}


def test_times_in_order_are_fine():
    check_times(jobs())
    check_times(jobs(queueing_s=[-1e-7, np.nan]))  # what rounding takes


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("finish_s", 99.0, "finish_s is 99, before its first_start_s, 100"),
        ("first_start_s", -1.0, "first_start_s is -1, before its admit_s, 0"),
        ("admit_s", -5.0, "admit_s is -5, before its submit_s, 0"),
        ("jct_s", -1e12, "jct_s is -1e+12"),
        ("run_s", np.inf, "run_s is inf"),
        ("gpu_seconds", -1.0, "gpu_seconds is -1"),
    ],
)
def test_times_that_cannot_be_are_refused(column, value, words):
    with pytest.raises(BloxError) as stop:
        check_times(jobs(**{column: [value, np.nan]}))
    assert stop.value.what == f"the results are impossible: of job 'a', {words}"
