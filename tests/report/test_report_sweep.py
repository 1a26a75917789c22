"""The headline of a sweep's report."""

from __future__ import annotations

import pytest

from blox.report.run import Run
from blox.report.sweep_page import _claim
from blox.results.comparison import Comparison
from blox.results.result import Result
from support.toy_runs import with_figures


def sets(**means: list[float] | list[tuple[float, ...]]) -> list[tuple[list[str], Comparison[Run]]]:
    """The lines at each value across; a tuple has a figure for each seed."""
    found = []
    for at in range(max(map(len, means.values()))):
        here = {name: values[at] for name, values in means.items() if at < len(values)}
        runs = [
            with_figures(name, avg_jct_s=value)
            if isinstance(value, tuple)
            else Result(name, {}, {"avg_jct_s": value}, {}, {}, {})
            for name, value in here.items()
        ]
        found.append((list(here), Comparison(runs)))
    return found


LOW, HIGH, WIDE = (5.0, 6.0, 7.0), (8.0, 9.1, 10.0), (3.0, 7.0, 9.0)


@pytest.mark.parametrize(
    ("means", "claim"),
    [
        ({"fifo": [HIGH, HIGH], "las": [LOW, LOW]}, "las has the shortest average JCT everywhere"),
        ({"fifo": [9, 9], "las": [9, 9]}, "No difference in average JCT at any value of load"),
        (
            {"a": [LOW], "b": [LOW], "c": [WIDE], "d": [HIGH]},
            "a, b and c have the shortest average JCT everywhere",
        ),
        (
            {"fifo": [LOW, LOW], "las": [LOW, HIGH]},
            "fifo has the shortest average JCT at 1 of 2 values of load; no difference at 1",
        ),
        (
            {"fifo": [LOW, LOW], "las": [WIDE, HIGH]},
            "fifo has the shortest average JCT at 1 of 2 values of load; not distinguishable at 1",
        ),
        (
            {"fifo": [LOW, LOW], "las": [WIDE, WIDE]},
            "Average JCT: the lines are not distinguishable at any value of load",
        ),
        (
            {"fifo": [9, 9], "las": [7, 8]},
            "las has the shortest average JCT everywhere; one run of each, not tested",
        ),
        ({"fifo": [5, 6]}, "Average JCT against load"),
    ],
)
def test_the_claim_names_all_that_may_have_the_best_value(means: dict[str, list[float]], claim: str) -> None:
    assert _claim(sets(**means), "load") == claim
