"""Fairness between tenants over time, as a part of the page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blox.report import figures, series, words
from blox.report.labels import labels
from blox.report.page_parts import embedded, multiples, section
from blox.report.run import Run


def fairness_between_tenants(runs: Sequence[Run]) -> list[str]:
    """Jain's index over time, and how the largest tenants were served; none where there is one."""
    found = [series.fairness(run) for run in runs]
    known = [each for each in found if each is not None]
    if not known or len(known) < len(runs) or len({each.column for each in known}) > 1:
        return []
    tenants = sorted({name for each in known for name in each.served})
    empty = series.Level(np.empty(0), np.empty(0))
    panels = [
        (name, figures.served(runs, [each.served.get(name, empty) for each in known])) for name in tenants
    ]
    said = words.smoothed([each.index for each in known])
    caption = (
        f"A {known[0].column}'s fair part: an equal share of the GPUs, or what its jobs ask for if that is "
        "less; what is left over goes to the others. Jain's index of GPUs held over fair part, over those "
        f"that ask for any: 1 where all are served alike, 1/n where one of n has everything. {said}"
    )
    below = f"GPUs held, in per cent of the fair part, of the {len(tenants)} that ask for most."
    content = (
        embedded("tenants-index", figures.fairness(runs, [each.index for each in known]))
        + f'<p class="caption">{below}</p>'
        + multiples("tenant", panels, labels(runs))
    )
    return [section("tenants", f"Fairness between {known[0].column}s", caption, content)]
