"""What is believed of a job's duration: what its user expects, or how long the same command took before.

The truth is never asked for: of a job about which neither is known, nothing is believed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from hashlib import blake2b
from statistics import median

import msgspec

from blox.cluster.protocol.messages import JobSpec

_KEPT = 20  # durations of one command
_MOST = 10_000  # commands; those that ended longest ago are forgotten


class Durations(msgspec.Struct):
    """How long the latest jobs with one command of one user ran (s), in order of their ends."""

    key: str
    serial: int  # the larger, the later one of them ended
    seconds: list[float] = []


class Belief(msgspec.Struct, frozen=True):
    """Seconds of run time, and where that is from; None: nothing is believed."""

    expected_s: float | None = None
    source: str = "unknown"


class History:
    """Durations of jobs that have finished, by user and command."""

    def __init__(self, records: Iterable[Durations] = ()) -> None:
        ordered = sorted(records, key=lambda each: each.serial)
        self._known: OrderedDict[str, Durations] = OrderedDict((each.key, each) for each in ordered)
        self._serial = ordered[-1].serial if ordered else 0
        self.changed: dict[str, Durations | None] = {}  # since they were last saved; None: forgotten

    def believe(self, spec: JobSpec) -> Belief:
        """What is believed of a job when it is submitted."""
        if spec.expected_s is not None:
            return Belief(spec.expected_s, "its user")
        found = self._known.get(key_of(spec))
        if found is None:
            return Belief()
        runs = len(found.seconds)
        return Belief(median(found.seconds), f"{runs} earlier run{'s' if runs > 1 else ''} of its command")

    def finished(self, spec: JobSpec, ran_s: float) -> None:
        """A job has done all its work in so much time."""
        key = key_of(spec)
        self._serial += 1
        before = self._known.pop(key, None)
        seconds = [*(before.seconds if before else ()), ran_s][-_KEPT:]
        self._known[key] = self.changed[key] = Durations(key, self._serial, seconds)
        if len(self._known) > _MOST:
            self.changed[self._known.popitem(last=False)[0]] = None


def key_of(spec: JobSpec) -> str:
    """The same for the same user, command and kind of launch."""
    text = msgspec.msgpack.encode((spec.user, spec.launch, spec.directory, spec.command))
    return blake2b(text, digest_size=16).hexdigest()
