"""Specs: the texts that build parts. `name`, `name:key=value,key=value` (lists joined with `+`) or
`./file.py:Class[:key=value]`. A part with a parameter `path` takes it first, without its name:
`queues:queues.toml,strict=true`."""

from __future__ import annotations

from typing import Any

from blox.errors import BloxError, suggestion
from blox.registry.known_parts import find, names
from blox.registry.part_fields import instantiate, parameters
from blox.registry.user_files import file_in, load_class


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


def _class_and_options(kind: str, spec: str) -> tuple[type, str]:
    function = kind == "metric"
    if (named := file_in(spec, "function" if function else "class")) is not None:
        return load_class(named.path, named.class_name, function=function), named.options
    name, _, options = spec.partition(":")
    return find(kind, name.strip(), where=f"{kind} spec {spec!r}"), options


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "+".join(_text(v) for v in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
