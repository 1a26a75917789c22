"""SortedPlaces: the jobs of a line that is kept sorted as they come, move, wait, run and leave."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence


class SortedPlaces:
    """Jobs by their places, each a number of its own, kept sorted as jobs come, move, wait, run and leave."""

    def __init__(self) -> None:
        self._places: list[int] = []  # ascending
        self._row_at: dict[int, int] = {}
        self._place_of: dict[int, int] = {}
        self._waiting: list[int] = []  # the places of jobs that hold no GPUs, ascending

    def put(self, row: int, place: int, waits: bool) -> None:
        """A job comes, moves to another place, stops or starts."""
        if self._place_of.get(row) != place:
            self.drop(row)
            insort(self._places, place)
            self._row_at[place], self._place_of[row] = row, place
        at = bisect_left(self._waiting, place)
        known = at < len(self._waiting) and self._waiting[at] == place
        if waits and not known:
            self._waiting.insert(at, place)
        elif known and not waits:
            del self._waiting[at]

    def drop(self, row: int) -> None:
        """A job leaves, if it is there."""
        place = self._place_of.pop(row, None)
        if place is None:
            return
        del self._row_at[place]
        for places in (self._places, self._waiting):
            at = bisect_left(places, place)
            if at < len(places) and places[at] == place:
                del places[at]

    def contested(self, held: Sequence[int], gpus: Sequence[int], free: int, most: int) -> list[int] | None:
        """The rows, in order, among which it is decided which start and which make room; None: above `most`.

        `held` and `gpus`: what jobs hold and ask for, by row. A running job before the first waiting one goes
        on running, and so does one that is followed by enough others for all that wait.
        """
        places, waiting, row_at = self._places, self._waiting, self._row_at
        start = bisect_left(places, waiting[0])
        if len(places) - start <= most:
            return [row_at[place] for place in places[start:]]
        shortage = sum([gpus[row_at[place]] for place in waiting]) - free
        last = len(places)
        while shortage > 0:
            last -= 1
            if len(places) - last > most:
                return None
            shortage -= held[row_at[places[last]]]
        before = waiting[: bisect_left(waiting, places[last])] if last < len(places) else waiting
        line = before + places[last:]
        return [row_at[place] for place in line] if len(line) <= most else None
