"""Throughputs of pairs from a few measurements: gaps are filled, jobs recognised by what they keep."""

import numpy as np
import pytest

from blox.errors import BloxError
from blox.performance.throughputs import throughputs
from blox.schedulers.gavel.estimator import Estimator, complete


def estimator():
    table = throughputs()
    kinds = [kind for kind in table.alone if kind[1] == 1]
    return Estimator(table.of(kinds), table.shared(kinds))


def test_a_matrix_of_rank_two_is_completed():
    numbers = np.random.default_rng(0)
    whole = numbers.uniform(1, 2, (30, 2)) @ numbers.uniform(1, 2, (2, 20))
    gaps = whole.copy()
    gaps[numbers.random(whole.shape) < 0.3] = np.nan
    filled = complete(gaps, rank=2, penalty=1e-6)
    assert filled == pytest.approx(whole, rel=1e-3)
    known = ~np.isnan(gaps)
    assert np.array_equal(filled[known], gaps[known])


def test_nothing_known_is_told():
    with pytest.raises(BloxError, match="nothing of the table is known"):
        complete(np.full((2, 2), np.nan))


def test_a_job_that_is_measured_in_full_is_recognised():
    known = estimator()
    assert known.match(known.fingerprints).tolist() == list(range(len(known.alone)))


@pytest.mark.parametrize(("part", "most"), [(0.2, 0.15), (0.5, 0.08), (0.9, 0.05)])
def test_the_more_is_measured_the_better_pairs_are_known(part, most):
    """Mean error of what jobs keep of their speed beside others; a part is measured, with 2 % of noise."""
    known, numbers = estimator(), np.random.default_rng(1)
    kind = numbers.integers(len(known.alone), size=60)
    prints = known.fingerprints
    measured = prints[kind] * numbers.normal(1, 0.02, prints[kind].shape)
    measured[numbers.random(measured.shape) > part] = np.nan
    matches = known.match(measured)
    error = np.abs(prints[matches][:, kind] - prints[kind][:, kind]).mean()
    blind = np.abs(prints[kind][:, kind] - prints.mean(axis=0)[kind]).mean()
    assert error < min(most, blind)
    assert known.pairs(matches).throughput.shape == known.beside.shape
