"""Toy runs, made once."""

from __future__ import annotations

import pytest

from support.toy_runs import ToyResult, toy_run


@pytest.fixture(scope="session")
def three() -> list[ToyResult]:
    """The same small workload under three orders."""
    return [toy_run(order) for order in ("fifo", "srtf", "las")]


@pytest.fixture(scope="session")
def one() -> ToyResult:
    return toy_run("fifo", jobs=12)
