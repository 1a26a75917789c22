"""The queue of a run at a moment: in the scheduler's own order with what blocks each job, where known."""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.explain import Round
from blox.recording.stints import held_at
from blox.recording.wait_causes import ARRIVAL, COUNTED, EVICTION, WORDS, counted_cause, told_cause
from blox.results.result import Result
from blox.ui.film.order import Order
from blox.workloads.table import Array

Row = tuple[int, int, int, list[float | None], str, str]  # place, row, GPUs, keys, cause, what blocks it

SHOWN = 60  # jobs that are listed, unless more are asked for
_WORKING = "By submission; the scheduler's own order is being worked out by running the experiment once more."
_UNKNOWN = "By submission; the scheduler's own order is not known: "


def queue_at(result: Result, order: Order, time_s: float, most: int = SHOWN) -> dict[str, Any]:
    """Jobs that wait at a time: place, row, GPUs, sort keys, cause, and what blocks each, in order.

    `waiting` and `held` count all of them. `note` is empty where the order is the scheduler's own; `settled`
    says that it will not change any more.
    """
    order.ask()
    rows = _waiting(result, time_s)
    seen = result.jobs["submit_s"][rows] <= _seen_s(result, time_s)
    outside = seen & ~(result.jobs["admit_s"][rows] <= time_s)
    counts = {"waiting": len(rows), "held": int(outside.sum())}
    if order.decisions is not None:
        keys, listed = _as_decided(result, order.decisions.at(time_s), rows, time_s, most)
        return {**counts, "rows": listed, "keys": keys, "note": "", "settled": True}
    note = _WORKING if order.state == "working" else f"{_UNKNOWN}{order.why}"
    listed = _by_submission(result, rows[:most], outside[:most], time_s)
    return {**counts, "rows": listed, "keys": [], "note": note, "settled": order.state != "working"}


def _waiting(result: Result, time_s: float) -> Array:
    """Rows that have been submitted, have not ended and hold no GPU, by submission."""
    submit, finish = result.jobs["submit_s"], result.jobs["finish_s"]
    there = (submit <= time_s) & ~(finish <= time_s)
    there[result.stints["job"][held_at(result.stints, time_s, result.jobs["state"])]] = False
    rows = np.flatnonzero(there)
    by_submission: Array = rows[np.argsort(submit[rows], kind="stable")]
    return by_submission


def _round_index(result: Result, time_s: float) -> int:
    """The last round that was noted at or before a time; -1: there was none."""
    return int(result.rounds["time_s"].searchsorted(time_s, side="right")) - 1


def _seen_s(result: Result, time_s: float) -> float:
    """When jobs were last looked at."""
    index = _round_index(result, time_s)
    return float(result.rounds["time_s"][index]) if index >= 0 else -np.inf


def _as_decided(
    result: Result, decision: dict[str, Array], rows: Array, time_s: float, most: int
) -> tuple[list[str], list[Row]]:
    """The names of the sort keys, and the waiting rows as the last round had them; then those it did not see:
    they came, or lost their GPUs, since."""
    found = Round(decision, result.jobs["job_id"])
    positions = np.flatnonzero((decision["held_gpus"] == 0) & np.isin(decision["job"], rows))
    standings = [found.standing(at) for at in positions[:most].tolist()]
    listed: list[Row] = [
        (each.place, each.row, each.gpus, _shown(each.keys), each.cause, found.blocked_by(each))
        for each in standings
    ]
    unseen = rows[~np.isin(rows, decision["job"][positions])][: most - len(listed)]
    seen_s = float(decision["time_s"][0]) if len(decision["job"]) else -np.inf
    for row in unseen.tolist():
        cause = ARRIVAL if result.jobs["submit_s"][row] > seen_s else EVICTION
        listed.append((0, row, int(result.jobs["gpus"][row]), [], cause, WORDS[cause]))
    return (found.key_names if len(decision["job"]) else []), listed


def _by_submission(result: Result, rows: Array, outside: Array, time_s: float) -> list[Row]:
    """The waiting rows from what every run records: causes by counting GPUs, or as policies told them."""
    reasons = _reasons(result, rows, outside, time_s)
    gpus = result.jobs["gpus"]
    return [
        (place, row, int(gpus[row]), [], *reason)
        for place, (row, reason) in enumerate(zip(rows.tolist(), reasons), 1)
    ]


def _reasons(result: Result, rows: Array, outside: Array, time_s: float) -> list[tuple[str, str]]:
    """(cause, words) of each waiting row."""
    rounds = result.rounds
    index = max(_round_index(result, time_s), 0)
    codes = counted_cause(
        result.jobs["gpus"][rows], *(rounds[name][index] for name in ("free_gpus", "handed_out", "blocked"))
    )
    arrived = (result.jobs["submit_s"][rows] > _seen_s(result, time_s)).tolist()
    found = [
        (ARRIVAL, WORDS[ARRIVAL]) if new else COUNTED[0] if held else COUNTED[code]
        for code, held, new in zip(codes.tolist(), outside.tolist(), arrived)
    ]
    told = result.reasons
    now = np.flatnonzero((told["start_s"] <= time_s) & (time_s < told["end_s"]) & np.isin(told["job"], rows))
    place = {row: at for at, row in enumerate(rows.tolist())}
    for at in now.tolist():
        here = place[int(told["job"][at])]
        found[here] = told_cause(str(told["part"][at]), found[here]), str(told["because"][at])
    return found


def _shown(keys: tuple[float, ...]) -> list[float | None]:
    """Sort keys as JSON has them."""
    return [float(f"{key:.6g}") if np.isfinite(key) else None for key in keys]
