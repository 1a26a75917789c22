"""Settings that had no effect on a run, in sentences: they are kept and told with its results.

What can never go together is refused before a run (`parts.py`); here is what follows from its jobs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from blox.clock import Events
from blox.experiment.traits import may_read_metrics
from blox.state.jobs import JobState
from blox.termination.time_limit import TimeLimit

if TYPE_CHECKING:
    from blox.experiment.prepared import Prepared


def without_effect(prepared: Prepared, job_state: JobState) -> Iterator[str]:
    """A sentence for each setting that changed nothing."""
    experiment, parts = prepared.experiment, prepared.composition
    columns, count = job_state.columns, job_state.submitted
    if isinstance(prepared.clock, Events) and not experiment.auto:
        round_s, usual_s = experiment.round_s, type(experiment).round_s
        if round_s != usual_s:
            yield f"the events clock has no rounds: --round {round_s:g} is not used"
    if isinstance(parts.termination, TimeLimit) and np.isnan(columns.limit_s[:count]).all():
        yield "no job has a time limit (limit_s): --termination time-limit ends none"
    if experiment.reports not in ("auto", "none") and not may_read_metrics(parts):
        yield f"no policy reads what jobs report: --reports {experiment.reports} is not used"
    rigid = not (columns.min_gpus < columns.max_gpus)[:count].any()
    if parts.overheads.resize_s is not None and rigid:
        yield f"no job can be resized: --overheads resize={parts.overheads.resize_s:g} is not used"
