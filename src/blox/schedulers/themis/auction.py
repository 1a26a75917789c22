"""The partial-allocation auction (Cole, Gkatzelis and Goel, 2013), as Themis holds it over free GPUs.

Bidders say what every bundle of GPUs is worth to them. The proportionally fair allocation makes the product
of values as large as possible; then every bidder gives up the part by which its presence makes the others
worse off (the hidden payment), so that lying does not pay. Exact, by dynamic programming over what is left of
the offer; counts only, per machine. The caller chooses the bidders and disposes of the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from blox.workloads.table import Array

Bundle = tuple[int, ...]  # GPUs from each machine of the offer

# One bidder more that gets anything weighs more than any product of values: a step in logarithms, large
# against them and small enough to leave nine digits behind the point.
_STEP = 1e5
_TIE = 1e-9  # sums of logarithms that differ by less are equal


@dataclass(frozen=True)
class Bid:
    """What each bundle is worth, the empty one (what the bidder has without) included; 0: nothing."""

    values: dict[Bundle, float]

    @cached_property
    def ranked(self) -> list[tuple[Bundle, float]]:
        """Bundles, the largest first, with the logarithms that are added up."""
        return sorted(
            (
                (bundle, _STEP + math.log(value) if value > 0 else 0.0)
                for bundle, value in self.values.items()
            ),
            reverse=True,
        )


def bid_by_machine(free: Bundle, most: int, value: Callable[[Bundle], float]) -> Bid:
    """A bid for every way to take at most `most` GPUs of the offer; `value` says what each is worth."""
    ways = product(*(range(count + 1) for count in free))
    return Bid({bundle: value(bundle) for bundle in ways if sum(bundle) <= most})


@dataclass(frozen=True)
class Outcome:
    """What one bidder gets: its fair bundle, what that is worth, and the part of it that it keeps.

    `with_it` and `without_it` are the products of the others' values in the fair allocation and in the one
    that would be fair if this bidder were not there.
    """

    bundle: Bundle
    value: float
    with_it: float
    without_it: float

    @property
    def kept(self) -> float:
        """The part that stays with the bidder, 0 to 1; the rest is its hidden payment."""
        return min(1.0, self.with_it / self.without_it) if self.without_it > 0 else 1.0

    @property
    def share(self) -> float:
        """GPUs that it keeps, not rounded."""
        return self.kept * sum(self.bundle)

    @property
    def whole_gpus(self) -> int:
        """GPUs that it keeps, rounded down; what is cut off is left over."""
        return math.floor(self.share + _TIE)


def proportional_fair(bids: Sequence[Bid], free: Bundle) -> list[Bundle]:
    """The bundles with the largest product of values, from the offer `free`.

    Where not every bidder can get something of value, as many as possible do, and the product over these
    is largest. Among equals the first bidder gets as much as possible, of the first machine first.
    """
    best_from = _tables(bids, free)
    chosen: list[Bundle] = []
    left = free
    for position, bid in enumerate(bids):
        goal = best_from[position][left] - _TIE
        for bundle, worth in bid.ranked:
            rest = tuple(have - take for have, take in zip(left, bundle))
            if min(rest) >= 0 and worth + best_from[position + 1][rest] >= goal:
                chosen.append(bundle)
                left = rest
                break
    return chosen


def auction(bids: Sequence[Bid], free: Bundle, *, payments: bool = True) -> list[Outcome]:
    """The fair allocation, and what each bidder keeps of it.

    Payments leave out bidders that get nothing of value: otherwise each of the others would pay all it has
    for keeping these out. `payments=False`: every bidder keeps all.
    """
    bundles = proportional_fair(bids, free)
    worth = [bid.values[bundle] for bid, bundle in zip(bids, bundles)]
    winners = [position for position, value in enumerate(worth) if value > 0]
    outcomes = [Outcome(bundle, value, 1.0, 1.0) for bundle, value in zip(bundles, worth)]
    if not payments:
        return outcomes
    logs = [math.log(worth[position]) for position in winners]
    without = _without_each([bids[position] for position in winners], free)
    for place, position in enumerate(winners):
        others = math.fsum(logs) - logs[place]
        outcomes[position] = Outcome(
            bundles[position], worth[position], math.exp(others), math.exp(max(others, without[place]))
        )
    return outcomes


def _tables(bids: Sequence[Bid], free: Bundle) -> list[Array]:
    """For each bidder and what is left of the offer: the best that it and those behind it can make of it."""
    shape = tuple(count + 1 for count in free)
    tables = [np.zeros(shape)]
    for bid in reversed(bids):
        tables.append(_joined(tables[-1], bid))
    return tables[::-1]


def _joined(table: Array, bid: Bid) -> Array:
    """The best that a bidder and those of a table can make of what is left."""
    best = np.full(table.shape, -np.inf)
    for bundle, worth in bid.ranked:
        if all(take < size for take, size in zip(bundle, table.shape)):
            into = tuple(slice(take, None) for take in bundle)
            rest = tuple(slice(0, size - take) for take, size in zip(bundle, table.shape))
            np.maximum(best[into], table[rest] + worth, out=best[into])
    return best


def _without_each(bids: Sequence[Bid], free: Bundle) -> list[float]:
    """The logarithm of the best product of all bidders but one, for each one."""
    behind = _tables(bids, free)
    before = np.zeros(behind[0].shape)
    backwards = tuple(slice(None, None, -1) for _ in free)
    found = []
    for position, bid in enumerate(bids):
        both = before + behind[position + 1][backwards]  # what those before use, those behind do not have
        found.append(float(both.max()) - _STEP * (len(bids) - 1))
        before = _joined(before, bid)
    return found
