"""Jobs to come, as far as they can be known: those of the recent past, once again.

What is good for the jobs that are there may be bad for those that come after them, and a job that others
overtake is seen to starve only if they go on coming. The jobs that were submitted within the last days come
again, in the same order and at the same distances: so a look ahead meets the load, the mix and the bursts of
late, and nothing of the future. Those that were ended before they did any work do not come again.
"""

from __future__ import annotations

import numpy as np

from blox.lookahead.ahead import Believed
from blox.state.columns import SUBMISSION
from blox.state.jobs import JobState
from blox.workloads.columns import SHORTEST_S, WITH_SUBMISSION
from blox.workloads.table import JobTable


def come_again(job_state: JobState, believed: Believed, span_s: float) -> list[JobTable]:
    """The jobs of the last `span_s` seconds, from now on once again."""
    c = job_state.columns
    first = int(c.submit_s[: job_state.submitted].searchsorted(job_state.now - span_s, side="right"))
    rows = first + (believed.work_s[first:] >= SHORTEST_S).nonzero()[0]
    if not len(rows):
        return []
    columns = {name: getattr(c, name)[rows] for name in SUBMISSION}
    columns["job_id"] = np.array([f"again {name}" for name in columns["job_id"].tolist()], dtype=object)
    for name in ("submit_s", *WITH_SUBMISSION):
        columns[name] = columns[name] + span_s
    extra = {name: values[rows] for name, values in c.extra.items()}
    return [JobTable({**columns, "duration_s": believed.work_s[rows]}, "look ahead", extra=extra)]
