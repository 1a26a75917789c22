"""Short names of specs, for tables, legends and folders: what each is, and the options in which they differ.

`./policies/ageing.py:Ageing:half_life_s=3600` is `Ageing:half_life_s=3600`, or `Ageing` where that is too
long; `helios:/data/venus/cluster_log.csv?tenant=vc1` is `cluster_log`, or `venus/cluster_log` beside another
of that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

ROOMY = 24  # characters: up to so many, options of a policy are shown that do not tell it apart, too
_FORMAT = re.compile(r"[A-Za-z][\w-]*:(?![A-Za-z_][\w-]*=)")  # before a path: `helios:`, not `philly:load=8`
_ENDINGS = re.compile(r"(\.(csv|json|gz|toml|trace|txt|log))+$")


@dataclass(frozen=True)
class _Spec:
    """A spec in parts: `heads` are what it could be called, from short to exact; `options` follow."""

    heads: tuple[str, ...]
    options: tuple[str, ...]
    mark: str  # between them

    def named(self, head: str, options: Iterable[str]) -> str:
        joined = ("&" if self.mark == "?" else ",").join(options)
        return f"{head}{self.mark}{joined}" if joined else head


def short_names(specs: Sequence[str]) -> list[str]:
    """A name for each spec: equal ones have the same name, different ones different names."""
    parts = {spec: _parts(spec) for spec in specs}
    heads = _heads(parts)
    shortest = {}
    for spec, part in parts.items():
        alike = [other for name, other in parts.items() if heads[name] == heads[spec]]
        name = part.named(heads[spec], part.options)
        if len(alike) > 1 or len(name) > ROOMY or part.mark == "?":
            telling = [each for each in part.options if any(each not in other.options for other in alike)]
            name = part.named(heads[spec], telling)
        shortest[spec] = name
    if len(set(shortest.values())) < len(shortest):
        shortest = {spec: spec for spec in parts}
    return [shortest[spec] for spec in specs]


def short_name(spec: str) -> str:
    """The short name of one spec by itself."""
    return short_names([spec])[0]


def default_label(experiment: Mapping[str, Any]) -> str:
    """The spec that a run without a label goes by: its preset, or its scheduler; `auto` if it chooses."""
    if experiment.get("auto"):
        return "auto"
    return str(experiment.get("compat") or experiment.get("scheduler") or "run")


def _heads(parts: Mapping[str, _Spec]) -> dict[str, str]:
    """What each spec is called before its options: as short as tells different things apart."""
    chosen = {}
    for spec, part in parts.items():
        others = [other for other in parts.values() if other.heads[-1] != part.heads[-1]]
        chosen[spec] = next(
            (head for head in part.heads if not any(head in other.heads for other in others)), part.heads[-1]
        )
    return chosen


def _parts(spec: str) -> _Spec:
    spec = spec.strip()
    before, python, behind = spec.partition(".py:")
    if python and not re.search(r"[?=,]", before):
        name, _, options = behind.partition(":")
        stem = PurePath(before).name
        return _Spec((name, f"{stem}:{name}", f"{before}.py:{name}"), _split(options, ","), ":")
    path, question, options = spec.partition("?")
    match = _FORMAT.match(path)
    place = path[match.end() :] if match else path
    if question or _ENDINGS.search(place) or "/" in place.partition(":")[0]:
        file = PurePath(place)
        stem = _ENDINGS.sub("", file.name) or file.name
        return _Spec((stem, f"{file.parent.name}/{stem}", path), _split(options, "&"), "?")
    name, _, options = spec.partition(":")
    return _Spec((name,), _split(options, ","), ":")


def _split(options: str, mark: str) -> tuple[str, ...]:
    return tuple(piece.strip() for piece in options.split(mark) if piece.strip())
