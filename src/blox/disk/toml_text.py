"""Writes the small TOML files that blox keeps: scalars, lists of scalars, and tables one level deep."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_toml(table: Mapping[str, Any]) -> str:
    """TOML text that `tomllib` reads back as the same table; None is left out."""
    plain = [(key, value) for key, value in table.items() if not isinstance(value, Mapping)]
    nested = [(key, value) for key, value in table.items() if isinstance(value, Mapping)]
    lines = [f"{key} = {_value(value)}" for key, value in plain if value is not None]
    for key, inner in nested:
        lines += ["", f"[{key}]"]
        lines += [f"{name} = {_value(value)}" for name, value in inner.items() if value is not None]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")  # the one that JSON allows
