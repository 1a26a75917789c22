"""LazyTable: a table of columns that is worked out when it is first read."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView

from blox.workloads.table import Array


class LazyTable(dict[str, Array]):
    """Columns that take long to make and are not always wanted.

    A dict, since pandas takes no other mapping for columns. Every way to read it fills it first.
    """

    def __init__(self, make: Callable[[], dict[str, Array]]) -> None:
        super().__init__()
        self._make: Callable[[], dict[str, Array]] | None = make

    def _fill(self) -> None:
        if self._make is not None:
            make, self._make = self._make, None
            self.update(make())

    def __getitem__(self, name: str) -> Array:
        self._fill()
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._fill()
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return super().__iter__()

    def __len__(self) -> int:
        self._fill()
        return super().__len__()

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        return KeysView(self)

    def values(self) -> ValuesView[Array]:  # type: ignore[override]
        return ValuesView(self)

    def items(self) -> ItemsView[str, Array]:  # type: ignore[override]
        return ItemsView(self)

    def get(self, name: str, default: Array | None = None) -> Array | None:  # type: ignore[override]
        self._fill()
        return super().get(name, default)

    def __reduce__(self) -> tuple[object, ...]:
        return (dict, (list(self.items()),))
