"""Whether the times of jobs can be: in order, and none below nothing. Impossible results are not given out.

A policy from outside shares its process with the simulation and can reach everything in it; what it breaks on
purpose shows here at the latest.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from blox.errors import BloxError
from blox.workloads.table import Array

_IN_ORDER = ("submit_s", "admit_s", "first_start_s", "finish_s")
_NOT_NEGATIVE = ("jct_s", "responsiveness_s", "queueing_s", "run_s", "gpu_seconds")
_EXACT = 1e-6  # of a time: what rounding may take


def check_times(jobs: Mapping[str, Array]) -> None:
    """Raises BloxError for the first job whose times contradict one another."""
    scale = _EXACT * (1.0 + np.fmax(np.abs(jobs["submit_s"]), np.abs(jobs["finish_s"])))
    for earlier, later in pairwise(_IN_ORDER):
        wrong = jobs[later] < jobs[earlier] - scale  # nan: never happened
        _refuse(jobs, wrong, f"{later} is {{{later}:.12g}}, before its {earlier}, {{{earlier}:.12g}}")
    for name in _NOT_NEGATIVE:
        wrong = (jobs[name] < -scale * np.maximum(1, jobs["gpus"])) | np.isinf(jobs[name])
        _refuse(jobs, wrong, f"{name} is {{{name}:.12g}}")


def _refuse(jobs: Mapping[str, Array], wrong: Array, words: str) -> None:
    if not wrong.any():
        return
    row = int(np.argmax(wrong))
    values = {name: jobs[name][row] for name in (*_IN_ORDER, *_NOT_NEGATIVE)}
    raise BloxError(
        f"the results are impossible: of job {jobs['job_id'][row]!r}, {words.format(**values)}",
        where="results, which are not saved",
        fix="a part from outside has changed the state: look for setflags() or writes to its arrays",
    )
