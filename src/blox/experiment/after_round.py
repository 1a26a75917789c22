"""What an experiment does after every round: it tells its progress, and notices a standstill."""

from __future__ import annotations

import time
from collections.abc import Callable

from blox.experiment.standstill import StandstillWatch
from blox.manager import BloxManager
from blox.state.jobs import JobState

Progress = Callable[[int, int], None]  # (jobs done, jobs to do)
OnRound = Callable[[BloxManager, JobState], None]


def after_round(progress: Progress | None, window: tuple[int, int] | None, expected: int) -> OnRound:
    """What is done after every round: progress is told to `progress`, and a standstill is noticed."""
    watch = StandstillWatch()
    if progress is None:
        return watch
    report = _reporter(progress, window, expected)

    def both(manager: BloxManager, job_state: JobState) -> None:
        watch(manager, job_state)
        report(manager, job_state)

    return both


def _reporter(progress: Progress, window: tuple[int, int] | None, expected: int) -> OnRound:
    """Calls `progress` a few times per second, not every round."""
    last_call = 0.0

    def report(manager: BloxManager, job_state: JobState) -> None:
        nonlocal last_call
        moment = time.monotonic()
        if moment - last_call < 0.2 and not manager.terminate:
            return
        last_call = moment
        first, last = window or (0, max(expected, job_state.submitted) - 1)
        finish = job_state.columns.finish_s[first : min(last + 1, job_state.submitted)]
        progress(int((finish == finish).sum()), last - first + 1)

    return report
