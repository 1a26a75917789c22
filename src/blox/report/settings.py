"""What was run, so that it can be run again: settings as TOML text, and those in which runs differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from blox.report.run import Run


def toml_text(settings: Mapping[str, Any], prefix: str = "") -> str:
    """Settings as TOML: plain values first, then a table for each nested mapping. None is left out."""
    lines = [
        f"{_key(key)} = {_value(value)}"
        for key, value in settings.items()
        if value is not None and not isinstance(value, Mapping)
    ]
    blocks = ["\n".join(lines)] if lines else []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            name = f"{prefix}{_key(key)}"
            blocks.append(f"[{name}]\n{toml_text(value, f'{name}.')}".rstrip())
    return "\n\n".join(blocks)


def differences(runs: Sequence[Run]) -> dict[str, list[str]]:
    """The settings that are not the same in every run: dotted name to one text per run, empty if unset."""
    flat = [_flatten(run.experiment) for run in runs]
    names = list(dict.fromkeys(name for one in flat for name in one))
    columns = {name: [one.get(name, "") for one in flat] for name in names}
    return {name: texts for name, texts in columns.items() if len(set(texts)) > 1}


def _flatten(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, f"{prefix}{key}."))
        elif value is not None:
            flat[f"{prefix}{key}"] = value if isinstance(value, str) else _value(value)
    return flat


def _key(key: str) -> str:
    bare = key.replace("-", "").replace("_", "")
    return key if bare.isascii() and bare.isalnum() else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False)  # a JSON string is a TOML basic string
