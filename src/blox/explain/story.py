"""The story of one job: a sentence, and the intervals in which it waited, why, and ran."""

from __future__ import annotations

from typing import Any

from blox.explain.explanation import Explanation
from blox.explain.intervals import RUNNING
from blox.explain.places import places
from blox.workloads.table import Array

_MOST_INTERVALS = 2000  # beyond, the middle of a story is left out
_FACTS = ("job_id", "user", "tenant", "model", "gpus", "priority", "preemptions", "moves")


def story_of(explanation: Explanation, row: int) -> dict[str, Any]:
    """What a reader of a job's story is told: facts, a sentence, and [from, to, state, words] in order."""
    result = explanation.result
    history = explanation.history(row)
    told = [
        [
            each.start_s,
            each.end_s,
            each.state,
            places(each.gpus, result.experiment) if each.state == RUNNING else each.words,
        ]
        for each in history
    ]
    half = _MOST_INTERVALS // 2
    shown = told if len(told) <= _MOST_INTERVALS else told[:half] + told[-half:]
    facts = {name: _plain(result.jobs[name], row) for name in _FACTS if name in result.jobs}
    return {
        "facts": facts,
        "sentence": explanation.sentence(row, history),
        "intervals": shown,
        "left_out": len(told) - len(shown),
    }


def _plain(column: Array, row: int) -> Any:
    """A cell as JSON has it."""
    value = column[row : row + 1].tolist()[0]
    return None if isinstance(value, float) and value != value else value
