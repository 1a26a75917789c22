"""How long a run with real processes takes at least: told before it starts."""

from __future__ import annotations

import math

from blox.cli.terminal import say
from blox.experiment.prepared import Prepared

LONG_S = 600.0  # real seconds above which a larger speed-up is named


def note_real_time(prepared: Prepared, speedup: float) -> None:
    """Says how much real time the jobs need if none of them waits, in one line on standard error."""
    from blox.report.units import duration

    needed_s = _least_s(prepared)
    real_s = needed_s / speedup
    faster = ""
    if real_s > LONG_S:
        enough = needed_s / LONG_S
        unit = 10.0 ** max(math.floor(math.log10(enough)) - 1, 0)
        faster = f"; a speedup of {math.ceil(enough / unit) * unit:.0f} brings that below 10 min"
    say(
        f"note: this takes at least {duration(real_s)} of real time at speedup {speedup:g}{faster}",
        to_stderr=True,
    )


def _least_s(prepared: Prepared) -> float:
    """When the last job that counts finishes if no job waits, in simulated seconds: a lower bound.

    A termination policy may end jobs before; then it is the last submission.
    """
    from blox.workloads.spec import draw

    experiment, window = prepared.experiment, prepared.window
    bounds = (prepared.most_jobs, None if window is None else window[1] + 1)
    most = min((bound for bound in bounds if bound is not None), default=None)
    jobs = draw(prepared.workload, most, experiment.seed).columns
    ends = jobs["submit_s"] + (jobs["duration_s"] if experiment.termination == "completed" else 0.0)
    first = 0 if window is None else min(window[0], len(ends) - 1)
    least_s = float(ends[first:].max())
    if experiment.max_rounds is None:
        return least_s
    return min(least_s, experiment.max_rounds * experiment.round_s)
