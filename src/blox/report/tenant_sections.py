"""Fairness between tenants over time, as a part of the page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blox.report import figures, series, words
from blox.report.labels import labels
from blox.report.page_parts import embedded, multiples, section
from blox.report.run import Run
from blox.results.samples import runs_of

_MOST_PANELS = 6


def fairness_between_tenants(runs: Sequence[Run]) -> list[str]:
    """How evenly tenants were served over time, and what each was given; none where there is one tenant."""
    if not runs or not all("tenants" in each.tables for run in runs for each in runs_of(run)):
        return []
    caption = (
        "Jain's index of the GPUs that tenants were given over their fair parts: 100 % where all are served "
        "alike. A fair part is an equal division of the cluster among those who want GPUs. "
        f"{words.smoothing(runs, series.tenants)}"
    )
    content = embedded("tenants-evenness", figures.tenants(runs))
    if len(runs) > 1:
        content += _by_tenant(runs)
    found = [section("tenants", "Fairness between tenants", caption, content)]
    if len(runs) == 1:
        caption = "Those with the most GPU time; gaps: it wants none. Above 100 %: more than an equal part."
        drawn = embedded("tenants-served", figures.served(runs[0]))
        found.append(section("served", "What tenants were given", caption, drawn))
    return found


def _by_tenant(runs: Sequence[Run]) -> str:
    """What each of the largest tenants was given in every run: a panel for each."""
    served = [series.served(run) for run in runs]
    largest = list(dict.fromkeys(name for each in served for name in each))[:_MOST_PANELS]
    nothing = series.Level(np.empty(0), np.empty(0))
    panels = [
        (name, figures.served_in(runs, [each.get(name, nothing) for each in served]))
        for name in sorted(largest)
    ]
    caption = (
        "GPUs given, in per cent of the fair part, of the tenants with the most GPU time; gaps: none wanted."
    )
    return f'<p class="caption">{caption}</p>{multiples("tenant", panels, labels(runs))}'
