"""Which parts there are: `@register.scheduling("las")` gives a class its name, `find` looks a name up.

A name is looked up lazily: first the module of the built-in package that bears it, then the other modules
there, then the entry points of installed packages (group `blox.<kind>`).
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import typing
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any, TypeVar

from blox.containment import by_signal
from blox.errors import BloxError, suggestion
from blox.foreign import entered

T = TypeVar("T")

# kind -> the built-in package whose modules register parts of that kind
PACKAGES = {
    "admission": "blox.admission_control",
    "scheduling": "blox.schedulers",
    "placement": "blox.placement",
    "termination": "blox.termination",
    "performance": "blox.performance",
    "workload": "blox.workloads.generators",
    "reader": "blox.workloads.readers",
    "compat": "blox.compat",
    "backend": "blox.backends",
    "failures": "blox.failures",
    "reports": "blox.job_reports",
    "metric": "blox.measures",
    "launch": "blox.cluster.launch",
    "preemption": "blox.cluster.preemption",
}

_classes: dict[str, dict[str, type]] = {kind: {} for kind in PACKAGES}
# kind -> a name that other systems have for something -> the spec by which it is built here
_elsewhere: dict[str, dict[str, str]] = {kind: {} for kind in PACKAGES}
_scanned: set[str] = set()


class Register:
    """One decorator per kind of part: `register.scheduling("las")`, `register.placement("random")`, ..."""

    def _decorator(self, kind: str, name: str) -> Callable[[type[T]], type[T]]:
        def enter(cls: type[T]) -> type[T]:
            _classes[kind][name] = cls
            cls.blox_kind, cls.blox_name = kind, name  # type: ignore[attr-defined]
            return cls

        return enter

    def admission(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("admission", name)

    def scheduling(
        self, name: str, *, elsewhere: Mapping[str, str] | None = None
    ) -> Callable[[type[T]], type[T]]:
        """`elsewhere`: names that other systems use, and the spec to suggest to a user who gives one."""
        _elsewhere["scheduling"].update(elsewhere or {})
        return self._decorator("scheduling", name)

    def placement(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("placement", name)

    def termination(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("termination", name)

    def performance(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("performance", name)

    def workload(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("workload", name)

    def reader(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("reader", name)

    def compat(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("compat", name)

    def backend(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("backend", name)

    def failures(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("failures", name)

    def reports(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("reports", name)

    def launch(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("launch", name)

    def preemption(self, name: str) -> Callable[[type[T]], type[T]]:
        return self._decorator("preemption", name)

    def metric(
        self,
        name: str,
        *,
        unit: typing.Literal["", "seconds", "share", "count"] = "",
        better: typing.Literal["", "low", "high"] = "",
    ) -> Callable[[Any], Any]:
        """For a function of a Result. `unit` says how its value is written, `better` which is marked best."""

        def enter(function: Any) -> Any:
            function.blox_unit, function.blox_better = unit, better
            return self._decorator("metric", name)(function)

        return enter


register = Register()


def names(kind: str) -> list[str]:
    """The names of all parts of a kind; what is installed is not imported."""
    _scan(kind)
    return sorted({*_classes[kind], *_entry_points(kind)})


def classes(kind: str) -> dict[str, type]:
    """Every part of a kind by name, built-in and installed; imports them all."""
    return survey(kind)[0]


def survey(kind: str) -> tuple[dict[str, type], list[BloxError]]:
    """Every part of a kind that can be loaded, and what is wrong with each installed one that cannot.

    One broken package must not hide all the others.
    """
    _scan(kind)
    faults = []
    for name, entry in sorted(_entry_points(kind).items()):
        if name not in _classes[kind]:
            try:
                _load_entry_point(kind, name, entry)
            except BloxError as error:
                faults.append(error)
    return dict(sorted(_classes[kind].items())), faults


def find(kind: str, name: str, *, where: str = "") -> type:
    """The class registered under `name`, importing as little as possible."""
    known = _classes[kind]
    if name not in known:
        _import_namesake(kind, name)
    if name not in known:
        _scan(kind)
    if name not in known and name in (entries := _entry_points(kind)):
        _load_entry_point(kind, name, entries[name])
    if name not in known:
        first, comma, options = name.partition(",")
        if comma and "=" in options and first in names(kind):
            fix = f"options stand behind a colon: {first}:{options}"
            raise BloxError(f"no {kind} part is called {name!r}", where=where, fix=fix)
        meant = _elsewhere[kind].get(name.lower())
        found = suggestion("", names(kind)) if meant else suggestion(name, names(kind))
        own = "function" if kind == "metric" else "Class"
        raise BloxError(
            f"no {kind} part is called {name!r}",
            where=where,
            fix=(f"here it is {meant!r}; " if meant else "") + f"{found}; or a file: ./mine.py:{own}",
        )
    return known[name]


def lazy_package(package: str, kind: str) -> Callable[[str], type]:
    """A module `__getattr__` that finds a part's class by its class name: `schedulers.Fifo`."""

    def lookup(class_name: str) -> type:
        if not class_name.startswith("_"):
            _scan(kind)
            for cls in _classes[kind].values():
                if cls.__name__ == class_name:
                    return cls
        raise AttributeError(f"module {package!r} has no attribute {class_name!r}")

    return lookup


def _import_namesake(kind: str, name: str) -> None:
    module = f"{PACKAGES[kind]}.{name.replace('-', '_')}"
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return
    if found is not None:
        importlib.import_module(module)


def _scan(kind: str) -> None:
    if kind in _scanned:
        return
    _scanned.add(kind)
    package = importlib.import_module(PACKAGES[kind])
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{PACKAGES[kind]}.{module.name}")


def _entry_points(kind: str) -> dict[str, metadata.EntryPoint]:
    return {entry.name: entry for entry in metadata.entry_points(group=f"blox.{kind}")}


def _load_entry_point(kind: str, name: str, entry: metadata.EntryPoint) -> None:
    try:
        with entered("its import"):
            cls = entry.load()
    except BaseException as error:
        if by_signal(error):
            raise
        told = error.what if isinstance(error, BloxError) else f"{type(error).__name__}: {error}"
        why = " ".join(told.split())
        raise BloxError(
            f"the installed part {name!r} cannot be loaded: {why}",
            where=f"entry point {entry.value}",
            fix="mend or uninstall the package that provides it",
        ) from None
    _classes[kind][name] = cls
    cls.blox_kind, cls.blox_name = kind, name
