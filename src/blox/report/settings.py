"""The settings in which runs differ."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from blox.report.run import Run


def differences(runs: Sequence[Run]) -> dict[str, list[str]]:
    """The settings that are not the same in every run: dotted name to one text per run, empty if unset.

    Provenance is no setting: a generator's fingerprint depends on how many jobs the run drew from it.
    """
    flat = [
        _flatten({key: value for key, value in run.experiment.items() if key != "provenance"}) for run in runs
    ]
    names = list(dict.fromkeys(name for one in flat for name in one))
    columns = {name: [one.get(name, "") for one in flat] for name in names}
    return {name: texts for name, texts in columns.items() if len(set(texts)) > 1}


def _flatten(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, f"{prefix}{key}."))
        elif value is not None:
            flat[f"{prefix}{key}"] = value if isinstance(value, str) else json.dumps(value, default=str)
    return flat
