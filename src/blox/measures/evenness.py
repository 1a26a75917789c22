from __future__ import annotations

import numpy as np

from blox.errors import BloxError, suggestion
from blox.registry import register
from blox.results.fairness import jain_index
from blox.results.result import Result


@register.metric("evenness", better="high")
def evenness(result: Result, *, of: str = "slowdown", by: str = "tenant") -> float | None:
    """Jain's index of a column's mean over tenants, users, ...: 1 where all fare alike, at least 1/n."""
    for name in (of, by):
        if name not in result.jobs:
            raise BloxError(
                f"jobs have no column {name!r}", where="evenness", fix=suggestion(name, result.jobs)
            )
    values, names = result.jobs[of], np.asarray(result.jobs[by]).astype(str)
    known = ~np.isnan(values)
    means = [values[known & (names == name)].mean() for name in np.unique(names[known])]
    return jain_index(np.array(means))
