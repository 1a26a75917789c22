"""The parameters of a part: the fields of its frozen dataclass, and values for them from text."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import math
import sys
import types
import typing
from pathlib import Path
from typing import Any

from blox.containment import by_signal
from blox.durations import Seconds, parse_duration
from blox.errors import BloxError, suggestion
from blox.foreign import entered, is_foreign
from blox.registry.user_files import line_in


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


def check_choices(part: object) -> None:
    """Refuses a value that is none of the choices which the type of its field, `Literal[...]`, names.

    For `__post_init__`: a part is also made by its constructor, which checks no types."""
    cls: Any = type(part)
    for name, choices in _choices(cls).items():
        value = getattr(part, name)
        if value not in choices:
            raise BloxError(f"{name} is {value!r}", fix=suggestion(str(value), map(str, choices)))


@functools.cache
def _choices(cls: type) -> dict[str, tuple[Any, ...]]:
    """The choices of each field that has some, by its name."""
    kinds = {name: each.type for name, each in parameters(cls).items()}
    chosen = {name: kind for name, kind in kinds.items() if typing.get_origin(kind) is typing.Literal}
    return {name: typing.get_args(kind) for name, kind in chosen.items()}


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
        line = line_in(error, file)
        raise BloxError(
            f"it cannot be made: {type(error).__name__}: {error}",
            where=f"{file.name}{line}, {where}" if line else where,
            fix="check its __post_init__",
        ) from None


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


def _making(cls: type, what: str, where: str) -> contextlib.AbstractContextManager[None]:
    """What stands around code that makes an object of a class."""
    return entered(what, where) if is_foreign(cls) else contextlib.nullcontext()
