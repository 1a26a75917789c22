"""How the average JCT of each run differs from the lowest, by pairs: the same rows for terminal and page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blox.report import measures, units
from blox.report.labels import labels
from blox.report.run import Run
from blox.results.comparison import Comparison

CAPTION = "The intervals hold together with 95 %; one that holds 0 is no proof of a difference."


@dataclass(frozen=True)
class Difference:
    """One run against the lowest, in words; `position` is that of the run."""

    position: int
    name: str
    difference: str
    share: str
    interval: str
    verdict: str


def differences(runs: Sequence[Run]) -> tuple[str, list[Difference]]:
    """The unit, and a row per run from the lowest average JCT on; no rows where nothing can be told."""
    compared, measure = Comparison.of(runs), measures.AVG_JCT
    against = compared.against_best(measure.key, measure.better)
    if not any(found is not None and found.half_width for found in against.values()):
        return "", []  # nothing can be told, or nothing differs
    names = labels(compared)
    best, *others = against
    others.sort(key=lambda position: (measure.of(compared[position]), position))
    least = measure.of(compared[best])
    unit = units.column_unit([measure.of(compared[position]) for position in others])
    rows = [Difference(best, names[best], "lowest", "", "", "")]
    for position in others:
        found = against[position]
        if found is None:
            rows.append(Difference(position, names[position], "–", "–", "–", "cannot be told"))
            continue
        low, middle, high = (
            signed(value / unit.seconds, 2) for value in (found.low, found.estimate, found.high)
        )
        share = f"{signed(100 * found.estimate / least, 1)} %" if least else "–"
        verdict = "" if found.excludes_zero else "not distinguishable"
        rows.append(Difference(position, names[position], middle, share, f"{low} to {high}", verdict))
    return unit.name, rows


def signed(value: float, decimals: int) -> str:
    """A number with its sign."""
    return f"{value:+,.{decimals}f}".replace("-", "\u2212")
