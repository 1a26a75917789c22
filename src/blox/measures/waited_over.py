from __future__ import annotations

from blox.registry import register
from blox.results.result import Result


@register.metric("waited-over", unit="share", better="low")
def waited_over(result: Result, *, hours: float = 24.0) -> float:
    """Share of jobs that waited longer than `hours` in all."""
    return float((result.jobs["waited_s"] > 3600 * hours).mean())
