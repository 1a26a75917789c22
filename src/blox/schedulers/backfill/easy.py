"""EASY backfilling: the first job in line that does not fit has a reservation, and no other."""

from __future__ import annotations

import numpy as np

from blox.schedulers.backfill.profile import Profile, Shares, Want, less
from blox.schedulers.backfill.room import FutureRoom
from blox.schedulers.backfill.waiting import Memory, Queue


def easy(queue: Queue, room: FutureRoom, memory: Memory) -> dict[int, Shares]:
    """The jobs that start: in order to the first that does not fit, then those that do not delay it."""
    starting, lengths, free = dict[int, Shares](), list[float](), room.free
    for at, (row, need, length_s) in enumerate(queue):
        choose = room.choose(row, need, length_s)
        shares = choose(free, room.now)
        if shares is not None:
            starting[row], free = shares, less(free, shares)
            lengths.append(length_s)
            continue
        profile = room.profile(list(zip(lengths, starting.values())))
        found = profile.earliest(Want(need, length_s, room.whole(row, need)), choose, profile.now)
        if found is not None:  # otherwise it needs more GPUs than are up at present
            memory.blocker, memory.blocked, memory.head_s = row, queue.rows[at + 1 :], found[0]
            return starting | _fill(queue, at, room, profile, *found)
    return starting


def _fill(
    queue: Queue, head: int, room: FutureRoom, profile: Profile, shadow_s: float, shares: Shares
) -> dict[int, Shares]:
    """Jobs behind the one at `head` that fit now, and leave it a place at its time, this or another."""
    starting: dict[int, Shares] = {}
    free, then = profile.free[0], profile.at(shadow_s)  # by unit, now and when the head starts
    for_head = room.choose(int(queue.rows[head]), int(queue.need[head]), float(queue.length_s[head]))
    left, spare = int(free.sum()), int(then.sum() - queue.need[head])
    rows, need = queue.rows[head + 1 :], queue.need[head + 1 :]
    in_time = profile.now + queue.length_s[head + 1 :] <= shadow_s
    for at in ((need <= left) & (in_time | (need <= spare))).nonzero()[0].tolist():
        gpus, ends = int(need[at]), bool(in_time[at])
        if gpus > left or (not ends and gpus > spare):
            continue
        choose = room.choose(int(rows[at]), gpus, float(queue.length_s[head + 1 + at]))
        found = choose(free, profile.now)
        if found is not None and not ends:
            elsewhere = for_head(less(then, found), shadow_s)
            if elsewhere is None:
                found = choose(np.minimum(free, less(then, shares)), profile.now)
            else:
                shares = elsewhere
        if found is not None:
            starting[int(rows[at])] = found
            free, left = less(free, found), left - gpus
            if not ends:
                then, spare = less(then, found), spare - gpus
    return starting
