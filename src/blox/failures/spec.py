"""Failures from a string: the setting `failures` of an experiment.

none                           nothing fails
mtbf=30d,repair=4h             short for random:mtbf=30d,repair=4h
trace:outages.csv              short for trace:path=outages.csv
drain:node=3,at=36h,lasts=2h   any source by its name, with its parameters
./mine.py:Mine[:key=value]     a source of your own
a+b                            several at once: mtbf=30d+drain:node=3,at=36h
"""

from __future__ import annotations

import re
from typing import Any

from blox import registry
from blox.errors import BloxError
from blox.failures.timeline import FailureSource

_JOINED = re.compile(r"\+(?=\s*[A-Za-z_.~/][\w./~-]*[:=])")  # a `+` before another source, not within a list
_OPTIONS = re.compile(r"\s*[A-Za-z_][\w-]*\s*=")


def failures_from_spec(spec: str) -> tuple[FailureSource, ...]:
    """The sources that a spec names, none for `none`. Raises BloxError naming the valid ones."""
    if spec.strip() == "none":
        return ()
    pieces = [piece.strip() for piece in _JOINED.split(spec)]
    return tuple(_source(piece) for piece in pieces)


def source_from_spec(spec: str) -> Any:
    """The part that a spec of one source names, whether it has node_events() or not."""
    if _OPTIONS.match(spec):
        spec = f"random:{spec}"
    name, colon, rest = spec.partition(":")
    if name.strip() == "trace" and colon and not _OPTIONS.match(rest):
        return registry.instantiate(registry.find("failures", "trace"), {"path": rest.strip()}, where=spec)
    return registry.build("failures", spec)


def _source(spec: str) -> FailureSource:
    source = source_from_spec(spec)
    if not isinstance(source, FailureSource):
        raise BloxError(
            f"{type(source).__name__} has no method node_events()",
            where=f"failures {spec!r}",
            fix="give it node_events(cluster, seed); see docs/failures.md",
        )
    return source
