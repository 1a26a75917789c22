"""Toy runs, made once."""

from __future__ import annotations

import pytest

from blox.results.replications import Replications
from support.toy_runs import ToyResult, over_seeds, toy_run


@pytest.fixture(scope="session")
def three() -> list[ToyResult]:
    """The same small workload under three orders."""
    return [toy_run(order) for order in ("fifo", "srtf", "las")]


@pytest.fixture(scope="session")
def three_seeded() -> list[Replications]:
    """Three orders, each over the same six workloads."""
    return [over_seeds([toy_run(order, seed=seed) for seed in range(6)]) for order in ("fifo", "srtf", "las")]


@pytest.fixture(scope="session")
def one() -> ToyResult:
    return toy_run("fifo", jobs=12)
