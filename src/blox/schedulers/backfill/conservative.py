"""Conservative backfilling: every waiting job has a reservation, which is never for later than before."""

from __future__ import annotations

import math

import numpy as np

from blox.schedulers.backfill.profile import Profile, Shares, Want, Wants
from blox.schedulers.backfill.room import FutureRoom
from blox.schedulers.backfill.waiting import Memory, Place, Queue

Promised = dict[int, Place]
GROUP = 32  # jobs of which it is worked out together whether they might move up


def conservative(queue: Queue, room: FutureRoom, memory: Memory) -> dict[int, Shares]:
    """The jobs whose reservation begins now; every other keeps its own, or an earlier one."""
    rows = queue.rows.tolist()
    whole = np.array([room.whole(row, need) for row, need, _ in queue], dtype=bool)
    wants = Wants(queue.need, queue.length_s, whole)
    profile = room.profile()
    promised = _kept(rows, wants, room, profile, memory.promised)
    ended = bool(len(np.setdiff1d(memory.running, room.running)))  # a job has ended, or lost its GPUs
    _move_up(rows, wants, room, profile, promised, all_jobs=ended)
    starting = {row: shares for row, (begin, shares) in promised.items() if begin <= profile.now}
    memory.promised = {row: place for row, place in promised.items() if row not in starting}
    memory.running = np.union1d(room.running, np.fromiter(starting, dtype=np.int64, count=len(starting)))
    if memory.promised:
        memory.blocker = next(row for row in rows if row in memory.promised)
        memory.blocked = np.fromiter(memory.promised, dtype=np.int64)
    return {row: starting[row] for row in rows if row in starting}


def _kept(rows: list[int], wants: Wants, room: FutureRoom, profile: Profile, before: Promised) -> Promised:
    """The reservations as they were; one that no longer holds, for a job is late, goes to a later time.

    In the order of their times, so that one which is put off puts off those that are behind it.
    """
    known = sorted(
        (max(before[row][0], profile.now), before[row][0], row, at)
        for at, row in enumerate(rows)
        if row in before
    )
    lengths = wants.length_s.tolist()
    kept_out = {  # a job that was to start before this round may run into a window now
        row
        for begin, was, row, at in known
        if begin > was and room.keeps_out(row, begin, lengths[at], before[row][1])
    }
    spans = [(begin, lengths[at], before[row][1]) for begin, _, row, at in known]
    if not kept_out and profile.take_all(spans):
        return {row: (begin, before[row][1]) for begin, _, row, _ in known}
    promised: Promised = {}
    for begin, _, row, at in known:
        place: Place | None = (begin, before[row][1])
        if row in kept_out or not profile.holds(begin, lengths[at], before[row][1]):
            want = wants[at]
            place = profile.earliest(want, room.choose(row, want.gpus, want.length_s), begin)
        if place is not None:
            promised[row] = place
            profile.take(place[0], lengths[at], place[1])
    return promised


def _move_up(
    rows: list[int], wants: Wants, room: FutureRoom, profile: Profile, promised: Promised, *, all_jobs: bool
) -> None:
    """Gives jobs without a reservation their first, and `all_jobs` an earlier one, in the order of the line.

    A job that moves up leaves GPUs to those behind it, so that is looked at anew whenever one does.
    """
    begin = np.array([promised[row][0] if row in promised else math.inf for row in rows])
    own = np.array([promised[row][1][0][0] if row in promised else 0 for row in rows]) * wants.whole
    looked_at = np.arange(len(rows)) if all_jobs else np.isinf(begin).nonzero()[0]
    while len(looked_at):
        group, looked_at = looked_at[:GROUP], looked_at[GROUP:]
        might = group[profile.sooner(wants.take(group), begin[group], own[group])]
        for at in might.tolist():
            if _earlier(rows[at], wants[at], room, profile, promised):
                looked_at = np.concatenate((group[group > at], looked_at))
                break


def _earlier(row: int, want: Want, room: FutureRoom, profile: Profile, promised: Promised) -> bool:
    """Whether a job has found an earlier place than its own, which it has taken then."""
    own = promised.get(row)
    if own is not None:
        profile.take(own[0], want.length_s, own[1], sign=-1)
    found = profile.earliest(want, room.choose(row, want.gpus, want.length_s), profile.now)
    moved = found is not None and (own is None or found[0] < own[0])
    place = found if moved else own
    if place is not None:
        promised[row] = place
        profile.take(place[0], want.length_s, place[1])
    return moved
