"""The headline of a sweep's report."""

from __future__ import annotations

import pytest

from blox.report.sweep_page import _claim
from blox.results.result import Result


def lines(**means: list[float]) -> dict[str, dict[float, list[Result]]]:
    """A line per name, a run per value across: 4, 8, ..."""
    return {
        name: {
            4.0 * (at + 1): [Result(name, {}, {"avg_jct_s": mean}, {}, {}, {})]
            for at, mean in enumerate(values)
        }
        for name, values in means.items()
    }


@pytest.mark.parametrize(
    ("means", "claim"),
    [
        ({"fifo": [9, 9], "las": [7, 8]}, "las has the shortest average JCT everywhere"),
        ({"fifo": [9, 9], "las": [9, 9]}, "No difference in average JCT at any value of load"),
        ({"a": [5], "b": [5], "c": [5], "d": [6]}, "a, b and c have the shortest average JCT everywhere"),
        (
            {"fifo": [5, 6], "las": [5, 7]},
            "fifo has the shortest average JCT at 1 of 2 values of load; no difference at 1",
        ),
        ({"fifo": [5, 6]}, "Average JCT against load"),
    ],
)
def test_the_claim_names_all_that_share_the_best_value(means: dict[str, list[float]], claim: str) -> None:
    assert _claim(lines(**means), "load") == claim
