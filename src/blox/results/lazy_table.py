"""LazyTable: columns that are worked out, or read, when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from blox.workloads.table import Array


class LazyTable(Mapping[str, Array]):
    """Columns that are worked out when first asked for: long to make, and not always wanted."""

    def __init__(self, make: Callable[[], dict[str, Array]]) -> None:
        self._make = make

    @cached_property
    def _columns(self) -> dict[str, Array]:
        return self._make()

    def __getitem__(self, name: str) -> Array:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __reduce__(self) -> tuple[object, ...]:
        return (dict, (self._columns,))
