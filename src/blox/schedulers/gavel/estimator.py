"""Throughputs of pairs never measured, from a few that were (the paper's throughput estimator, Figure 14).

A job of unknown kind is run beside a few reference kinds. What it then does, over what it does alone, is a
row with gaps; the gaps are filled by completing the matrix of all references' rows, and the job is taken to
behave beside others like the reference whose row is nearest by angle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blox.errors import BloxError
from blox.schedulers.gavel.problem import Pairs
from blox.workloads.table import Array

RANK = 10  # as the original completes
PENALTY = 1e-2
ROUNDS = 50


def complete(table: Array, rank: int = RANK, penalty: float = PENALTY, rounds: int = ROUNDS) -> Array:
    """The table with its gaps (nan) filled by the best product of two thin matrices; what is known stays.

    Probabilistic matrix factorisation by alternating least squares: each side in turn is a ridge regression
    with `penalty`. Starts from the leading singular vectors of the table with column means in the gaps, so
    that nothing is random.
    """
    known = ~np.isnan(table)
    if not known.any():
        raise BloxError("nothing of the table is known", where="gavel estimator", fix="measure some pairs")
    counts = np.maximum(known.sum(axis=0), 1)
    sums = np.where(known, table, 0.0).sum(axis=0)
    means = np.where(known.any(axis=0), sums / counts, table[known].mean())
    filled = np.where(known, table, means)
    left, size, right = np.linalg.svd(filled, full_matrices=False)
    rank = min(rank, len(size))
    right = (np.sqrt(size[:rank])[:, None] * right[:rank]).T
    left = left[:, :rank] * np.sqrt(size[:rank])
    for _ in range(rounds):
        left = _ridge(right, table, known, penalty)
        right = _ridge(left, table.T, known.T, penalty)
    return np.where(known, table, left @ right.T)


def _ridge(features: Array, targets: Array, known: Array, penalty: float) -> Array:
    """For every row of targets, the weights of features that fit what is known of it."""
    mask = known.astype(np.float64)
    grams = np.einsum("rc,ci,cj->rij", mask, features, features) + penalty * np.eye(features.shape[1])
    aims = np.where(known, targets, 0.0) @ features
    found: Array = np.linalg.solve(grams, aims[:, :, None])[:, :, 0]
    return found


@dataclass(frozen=True, eq=False)
class Estimator:
    """Reference kinds, all measured: `alone` (kinds x types), `beside` (kinds x kinds x types), steps/s."""

    alone: Array
    beside: Array

    @property
    def fingerprints(self) -> Array:
        """What each reference keeps of its speed beside each other one (kinds x kinds x types)."""
        alone = np.where(self.alone > 0, self.alone, np.inf)
        kept: Array = self.beside / alone[:, None, :]
        return kept

    def match(self, measured: Array) -> Array:
        """The reference that each job is most like, from what it kept beside references (nan: not measured).

        `measured` is jobs x kinds x types. Ties go to the first reference.
        """
        prints = self.fingerprints.reshape(len(self.alone), -1)
        rows = measured.reshape(len(measured), -1)
        filled = complete(np.concatenate([prints, rows]))[len(prints) :] if np.isnan(rows).any() else rows
        close = _directions(filled) @ _directions(prints).T
        nearest: Array = close.argmax(axis=1)
        return nearest

    def pairs(self, matches: Array) -> Pairs:
        """Throughputs of pairs for jobs that are taken to be like these references."""
        return Pairs(matches, self.beside)


def _directions(rows: Array) -> Array:
    length: Array = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(length, 1e-300))
