"""How full the cluster was: over the time in which jobs arrived, and over the whole run.

After the last submission a cluster runs empty, so that figures over the whole run say more about how long the
last job takes than about the scheduler. The headline is therefore the time while the measured jobs arrived.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.recording.recorder import Recorder
from blox.workloads.table import Array

WHOLE_RUN = "_whole_run"  # what the names of the second figures end in


@dataclass(frozen=True)
class Span:
    """A part of a run, in seconds from its beginning."""

    begin_s: float
    end_s: float

    @property
    def seconds(self) -> float:
        return self.end_s - self.begin_s

    def average(self, time_s: Array, values: Array) -> float:
        """The average over this span of a value that changes at `time_s`; 0 before the first change."""
        if self.seconds <= 0 or not len(time_s):
            return 0.0
        begin = np.clip(time_s, self.begin_s, self.end_s)
        end = np.append(begin[1:], self.end_s)
        return float((values * (end - begin)).sum() / self.seconds)


def arrivals(submit_s: Array, measured: Array, end_s: float, round_s: float) -> Span:
    """From the first to the last submission of a measured job.

    The whole run where that is less than a round: jobs that are submitted together do not arrive over time.
    """
    times = submit_s[measured]
    if len(times) and times[-1] - times[0] >= round_s:
        return Span(float(times[0]), float(min(times[-1], end_s)))
    return Span(float(submit_s[0]) if len(submit_s) else 0.0, end_s)


def occupancy(span: Span, rounds: dict[str, Array], recorder: Recorder, total_gpus: int) -> dict[str, float]:
    """Share of the GPUs in use, share of the free GPUs on partly used nodes, jobs waiting; averages.

    A job waits from the first round on that a policy could have started it in.
    """
    used = recorder.gpu_seconds(span.begin_s, span.end_s)
    return {
        "utilisation": used / (total_gpus * span.seconds) if span.seconds > 0 else 0.0,
        "fragmentation": span.average(rounds["time_s"], rounds["fragmentation"]),
        "queue_length": span.average(rounds["time_s"], rounds["held"] + rounds["queued"]),
    }
