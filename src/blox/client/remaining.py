"""What is left of one pass over the data: an iterator that begins behind the batches that were done.

A PyTorch DataLoader over a dataset with random access is told which indices to leave out, and loads nothing
in vain. Whatever else is iterated is read up to there.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from blox.client.torch_data import has_random_access

T = TypeVar("T")


def remaining(data: Iterable[T], done: int, primed: Callable[[], None]) -> Iterator[T]:
    """The batches behind the first `done`.

    `primed` is called when everything is drawn that was drawn before those: shuffles, and seeds of loading
    processes. The next batch is not loaded yet.
    """
    if not done or not has_random_access(data):
        items = iter(data)
        for _ in range(done):
            next(items, None)
        primed()
        return items
    rest: Any = copy.copy(data)
    name = "sampler" if rest.batch_sampler is None else "batch_sampler"
    sampler = _Rest(getattr(rest, name), done)
    object.__setattr__(rest, name, sampler)  # a DataLoader refuses to be changed by its own means
    items = iter(rest)
    sampler.items.peek()
    primed()
    return items


class _Peeked(Iterator[T]):
    """An iterator whose next item can be drawn ahead."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._ahead: list[T] = []

    def peek(self) -> None:
        if not self._ahead:
            self._ahead += itertools.islice(self._items, 1)

    def __next__(self) -> T:
        return self._ahead.pop() if self._ahead else next(self._items)


class _Rest:
    """A sampler without its first indices."""

    def __init__(self, sampler: Any, done: int) -> None:
        self._sampler, self._done = sampler, done

    def __len__(self) -> int:
        return max(0, len(self._sampler) - self._done)

    def __iter__(self) -> _Peeked[Any]:
        self.items: _Peeked[Any] = _Peeked(itertools.islice(self._sampler, self._done, None))
        return self.items
