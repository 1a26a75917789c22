"""What really happened as one more run beside those of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blox.experiment.settings import Experiment
from blox.optional import declared
from blox.workloads.readers.base import TraceReader
from blox.workloads.spec import is_trace, workload_from_spec
from blox.workloads.table import JobTable
from blox.workloads.trace import Trace

LABEL = "what really happened"
_SHARED = (  # the settings that a log is held to as well
    *("workload", "cluster", "round_s", "window", "jobs", "apps", "prices", "power", "metrics"),
    "policy_timeout_s",
)


def history_of(experiments: Sequence[Experiment]) -> Experiment | None:
    """The run in which jobs start when their log says so; None where the log does not, or was scaled."""
    first = experiments[0]
    if len({(each.workload, each.cluster, each.jobs) for each in experiments}) > 1:
        return None
    if not is_trace(first.workload) or not is_logged(first.workload):
        return None
    shared = {name: getattr(first, name) for name in _SHARED}
    return Experiment(**shared, compat="history", label=LABEL)


def is_logged(workload: str) -> bool:
    """Whether a trace says when every job of its really started, at the load at which it did."""
    trace = workload_from_spec(workload)
    table: JobTable | None = declared(trace, "table")
    if table is None or not isinstance(trace, Trace):
        return False
    if isinstance(trace.reader, TraceReader) and trace.reader.scale != 1.0:
        return False
    return bool(np.isfinite(table.column("logged_start_s")).all())
