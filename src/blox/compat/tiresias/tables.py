"""What the original reads off its distribution of GPU time: a Gittins index, and an expected duration.

Both are computed as the original computes them, with Python 2's whole-number division and rounding.
"""

from __future__ import annotations

from bisect import bisect_right
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from blox.schedulers.gittins import read_samples

QUANTUM = 3250  # GPU-seconds


def rounded(value: float, digits: int) -> float:
    """`round()` of Python 2: an exact half goes away from zero."""
    return float(Decimal(value).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP))


class IndexTable:
    """The simulator's Gittins index by attained GPU time; not the textbook's.

    A sample that ends within the quantum counts with its whole size, not with what is left of it, and
    one fixed quantum stands for the supremum over all.
    """

    def __init__(self, samples: list[int], quantum: int = QUANTUM) -> None:
        self._samples = samples
        sums = [0]
        for sample in samples:
            sums.append(sums[-1] + sample)
        self._index = [self._value(sample - 1, sums, quantum) for sample in samples] + [0.0]

    def __call__(self, service: int) -> float:
        """The index of a job that has had so many GPU-seconds."""
        return self._index[bisect_right(self._samples, service)]

    def _value(self, attained: int, sums: list[int], quantum: int) -> float:
        samples, count = self._samples, len(self._samples)
        first = bisect_right(samples, attained)
        last = count - 1
        if attained + quantum <= samples[-1] - 1:
            last = bisect_right(samples, attained + quantum)
        ends = rounded((last - first) / (count - first), 5)
        mean = (sums[last] - sums[first] + quantum * (count - last)) // (count - first)
        return rounded(ends * 1_000_000 / mean, 4)


class ExpectedTable:
    """The mean of the samples above an attained service, without the very largest, in seconds."""

    def __init__(self, samples: list[int]) -> None:
        self._samples = samples
        self._above = [0]  # sums from the end, the largest left out
        for sample in reversed(samples[:-1]):
            self._above.append(self._above[-1] + sample)

    def __call__(self, attained: int) -> float:
        last = len(self._samples) - 1
        first = bisect_right(self._samples, attained)
        if first >= last:
            return float(self._samples[last]) if first == last else 0.0
        return rounded(self._above[last - first] / (last - first), 2)


@lru_cache(maxsize=8)
def index_table(path: str) -> IndexTable:
    return IndexTable(_whole(path))


@lru_cache(maxsize=8)
def expected_table(path: str) -> ExpectedTable:
    return ExpectedTable(_whole(path))


def _whole(path: str) -> list[int]:
    return [int(sample) for sample in read_samples(path).tolist()]
