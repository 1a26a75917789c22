"""Experiments as the command line gives them: a TOML file, or nothing, and options over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from blox.experiment import Experiment, Prepared, read_toml
from blox.provenance import check_unchanged


def experiment_from(
    file: Path | None, options: Mapping[str, Any], *, ignore_checksum: bool = False
) -> Prepared:
    """The experiment of a file with the given options in place of its own, built and checked.

    Options that are None were not given. Unless an option replaces the setting, the files behind the
    settings must be those that the file's provenance speaks of.
    """
    given = {name: value for name, value in options.items() if value is not None}
    table = {} if file is None else read_toml(file)
    experiment = replace(Experiment.from_table(table, where=str(file)), **given)
    prepared = experiment.prepare()
    if not ignore_checksum:
        recorded = table.get("provenance", {})
        kept = {
            key: value
            for key, value in recorded.items()
            if key.removesuffix("_sha256").removesuffix("_file") not in given
        }
        check_unchanged(kept, experiment.to_table(), prepared.workload, where=str(file))
    return prepared
