"""Names for parts: `@register.scheduling("las")`, and the spec strings that build parts from names.

A spec is `name`, `name:key=value,key=value` (lists joined with `+`) or `./file.py:Class[:key=value]`. A part
with a parameter `path` takes it first, without its name: `queues:queues.toml,strict=true`.
The parameters of a part are the fields of its frozen dataclass and nothing else. A name is looked up
lazily: first the module of the built-in package that bears it, then the other modules there, then the
entry points of installed packages (group `blox.<kind>`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import inspect
import math
import pkgutil
import re
import sys
import types
import typing
import zlib
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from blox.containment import by_signal
from blox.durations import Seconds, parse_duration
from blox.errors import BloxError, sought, suggestion
from blox.foreign import entered, is_foreign
from blox.user_modules import USER_MODULE, make_siblings_known

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

_OPTIONS = re.compile(r"[A-Za-z][\w-]*:[^/\\]*=")  # how a spec begins that has a name and options

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
        meant = _elsewhere[kind].get(name.lower())
        found = suggestion("", names(kind)) if meant else suggestion(name, names(kind))
        raise BloxError(
            f"no {kind} part is called {name!r}",
            where=where,
            fix=(f"here it is {meant!r}; " if meant else "") + f"{found}; or a file: ./mine.py:Class",
        )
    return known[name]


def build(kind: str, spec: str) -> Any:
    """The part that a spec string describes."""
    spec = spec.strip()
    if not spec:
        raise BloxError(f"an empty {kind} spec", fix=suggestion("", names(kind)))
    cls, options = _class_and_options(kind, spec)
    first, _, rest = options.partition(",")
    if first.strip() and "=" not in first and "path" in parameters(cls):  # `queues:queues.toml`
        options = f"path={first.strip()},{rest}"
    return instantiate(cls, parse_options(options, where=f"{kind} spec {spec!r}"), where=f"{kind} {spec!r}")


def instantiate(cls: type, options: dict[str, str], *, where: str) -> Any:
    """`cls(**options)` with each string turned into its field's type; errors name the valid ones."""
    fields = parameters(cls)
    values: dict[str, Any] = {}
    for key, text in options.items():
        name = key.replace("-", "_")
        if name not in fields:
            raise BloxError(f"no parameter is called {key!r}", where=where, fix=suggestion(key, fields))
        values[name] = _convert(text, fields[name].type, where=f"{where}, {key}")
    missing = [n for n, f in fields.items() if f.required and n not in values]
    if missing:
        raise BloxError(f"the parameter {missing[0]!r} must be given", where=where, fix=f"{missing[0]}=...")
    if isinstance(cls, types.FunctionType):
        return functools.partial(cls, **values) if values else cls
    try:
        with _making(cls, "its construction", where):
            return cls(**values)
    except BloxError as error:
        raise BloxError(error.what, where=error.where or where, fix=error.fix) from None
    except (TypeError, ValueError) as error:
        raise BloxError(str(error), where=where) from None
    except BaseException as error:
        if by_signal(error):
            raise
        file = Path(getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__)
        line = _line_in(error, file)
        raise BloxError(
            f"it cannot be made: {type(error).__name__}: {error}",
            where=f"{file.name}{line}, {where}" if line else where,
            fix="check its __post_init__",
        ) from None


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One constructor keyword of a part."""

    type: Any
    default: Any
    required: bool


def parameters(cls: type) -> dict[str, Parameter]:
    """The constructor keywords of a part, from its dataclass fields; of a function, its keyword-only ones."""
    if isinstance(cls, types.FunctionType):
        return _keywords(cls)
    if not dataclasses.is_dataclass(cls):
        return {}
    try:
        hints = typing.get_type_hints(cls)
    except Exception as error:
        raise BloxError(
            f"the type of a field is not known: {error}",
            where=cls.__name__,
            fix="import what the fields' types name",
        ) from None
    found = {}
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        default = field.default
        if default is dataclasses.MISSING and field.default_factory is not dataclasses.MISSING:
            with _making(cls, f"the default of {field.name}", cls.__name__):
                default = field.default_factory()
        required = default is dataclasses.MISSING
        found[field.name] = Parameter(hints[field.name], None if required else default, required)
    return found


def spec_of(part: Any) -> str:
    """The shortest spec that builds an equal part: only parameters that differ from their defaults."""
    cls = type(part)
    changed = [
        f"{key}={_text(getattr(part, key))}"
        for key, parameter in parameters(cls).items()
        if getattr(part, key) != parameter.default
    ]
    return f"{name_of(cls)}:{','.join(changed)}" if changed else name_of(cls)


def spec_named(cls: type) -> str | None:
    """The name or file under which this very class is built; None for one that only a program knows."""
    found: str | None = vars(cls).get("blox_spec") or vars(cls).get("blox_name")
    return found


def name_of(cls: type) -> str:
    """What to call a part of this class: the spec that builds it, or the name of its class."""
    return spec_named(cls) or cls.__name__


def kind_of(cls: type) -> str:
    """The kind of part that a class, or one it inherits from, is registered as; empty for none."""
    return getattr(cls, "blox_kind", "")


def parse_options(text: str, *, where: str, separator: str = ",") -> dict[str, str]:
    """`a=1,b=x` as a dictionary of strings."""
    options: dict[str, str] = {}
    for piece in filter(None, (p.strip() for p in text.split(separator))):
        key, equals, value = piece.partition("=")
        if not equals or not key.strip():
            raise BloxError(
                f"{piece!r} is not key=value", where=where, fix=f"write key=value{separator}key=value"
            )
        if key.strip() in options:
            raise BloxError(f"{key.strip()!r} is given twice", where=where, fix="give it once")
        options[key.strip()] = value.strip()
    return options


def load_class(path: str, class_name: str, *, function: bool = False) -> type:
    """A class out of a Python file, or a `function`; what goes wrong in the file is told with its line."""
    file = Path(path)
    if not file.is_file():
        raise BloxError(
            "no such file", where=path, fix=f"give the path of a Python file: ./mine.py:Class{sought(path)}"
        )
    name = f"{USER_MODULE}{zlib.crc32(str(file.resolve()).encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    make_siblings_known(file)
    try:
        with entered("its import", path):
            spec.loader.exec_module(module)
    except BloxError:
        raise
    except BaseException as error:
        if by_signal(error):
            raise
        line = _line_in(error, file)
        raise BloxError(
            f"the file cannot be imported: {type(error).__name__}: {error}",
            where=f"{path}{line}",
            fix="run it with python to see the whole trace",
        ) from None
    cls = getattr(module, class_name, None)
    if function and isinstance(cls, types.FunctionType):
        return cls  # type: ignore[return-value]
    if function and not isinstance(cls, type):
        here = [n for n, v in vars(module).items() if callable(v) and v.__module__ == name]
        raise BloxError(f"no function is called {class_name!r}", where=path, fix=suggestion(class_name, here))
    if not isinstance(cls, type):
        here = [n for n, v in vars(module).items() if isinstance(v, type) and v.__module__ == name]
        raise BloxError(f"no class is called {class_name!r}", where=path, fix=suggestion(class_name, here))
    cls.blox_spec = f"{path}:{class_name}"  # type: ignore[attr-defined]
    if not dataclasses.is_dataclass(cls) and parameters_needed(cls):
        raise BloxError(
            f"{class_name} takes constructor arguments but is not a dataclass",
            where=path,
            fix="put @dataclass(frozen=True) above the class; its fields are its parameters",
        )
    return cls


class FileSpec(typing.NamedTuple):
    """`./file.py:Class[:options]` in its parts."""

    path: str
    class_name: str
    options: str


def file_in(spec: str, what: str = "class") -> FileSpec | None:
    """The parts of a spec that begins with a file; None for one that begins with a name.

    The options of a named part may name files themselves: `promote:policy=./mine.py:Mine`.
    """
    head, marker, rest = spec.partition(".py:")
    if _OPTIONS.match(head):
        return None
    if not marker and spec.endswith(".py"):
        form = "Class" if what == "class" else what
        raise BloxError(f"a file needs a {what} behind it", where=spec, fix=f"{spec}:{form}")
    class_name, _, options = rest.partition(":")
    return FileSpec(f"{head}.py", class_name, options) if marker else None


def parameters_needed(cls: type) -> bool:
    """Whether a plain class cannot be constructed without arguments."""
    try:
        wanted = list(inspect.signature(cls).parameters.values())
    except (TypeError, ValueError):
        return False
    return any(p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in wanted)


def _class_and_options(kind: str, spec: str) -> tuple[type, str]:
    function = kind == "metric"
    if (named := file_in(spec, "function" if function else "class")) is not None:
        return load_class(named.path, named.class_name, function=function), named.options
    name, _, options = spec.partition(":")
    return find(kind, name.strip(), where=f"{kind} spec {spec!r}"), options


def _keywords(function: types.FunctionType) -> dict[str, Parameter]:
    """The keyword-only arguments of a function; one without a type has that of its default."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # a name that the file imports for type checkers alone
        hints = {}
    found = {}
    for name, each in inspect.signature(function).parameters.items():
        if each.kind is each.KEYWORD_ONLY:
            required = each.default is each.empty
            kind = hints.get(name, str if required else type(each.default))
            found[name] = Parameter(kind, None if required else each.default, required)
    return found


def _convert(text: str, wanted: Any, *, where: str) -> Any:
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        if text.lower() in ("none", "") and type(None) in arguments:
            return None
        errors = []
        for option in (a for a in arguments if a is not type(None)):
            try:
                return _convert(text, option, where=where)
            except BloxError as error:
                errors.append(error)
        raise errors[0]
    if origin is typing.Literal:
        if text in arguments:
            return text
        raise BloxError(
            f"{text!r} is not one of the choices", where=where, fix=suggestion(text, map(str, arguments))
        )
    if origin is tuple:
        return tuple(_convert(piece, arguments[0], where=where) for piece in text.split("+") if piece)
    if wanted is bool:
        truth = {
            "true": True,
            "yes": True,
            "1": True,
            "on": True,
            "false": False,
            "no": False,
            "0": False,
            "off": False,
        }
        if text.lower() not in truth:
            raise BloxError(f"{text!r} is neither true nor false", where=where, fix="write true or false")
        return truth[text.lower()]
    if wanted is Seconds:
        return parse_duration(text, where=where)
    if wanted in (int, float):
        try:
            number = wanted(text)
        except ValueError:
            kind = "whole number" if wanted is int else "number"
            raise BloxError(f"{text!r} is not a {kind}", where=where, fix=f"write a {kind}") from None
        if wanted is float and math.isnan(number):
            raise BloxError("nan is not a value", where=where, fix="write a number")
        return number
    return text


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "+".join(_text(v) for v in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


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


def _making(cls: type, what: str, where: str) -> contextlib.AbstractContextManager[None]:
    """What stands around code that makes an object of a class."""
    return entered(what, where) if is_foreign(cls) else contextlib.nullcontext()


def _line_in(error: BaseException, file: Path) -> str:
    if isinstance(error, SyntaxError) and error.lineno:
        return f":{error.lineno}"
    trace, line = error.__traceback__, ""
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == file.resolve():
            line = f":{trace.tb_lineno}"
        trace = trace.tb_next
    return line


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
