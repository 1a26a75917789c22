"""The files in which the Pollux artifact keeps what it measured of an application, read and checked.

`placements.csv` and `scalability.csv` hold step times by placement and batch size, `validation-<batch>.csv`
what a real run at that total batch size did, epoch by epoch.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from blox.errors import BloxError
from blox.workloads.source_rows import SourceRows, read_delimited
from blox.workloads.table import Array

# column -> the least that it can be; of others, any number will do
LEAST = {
    "local_bsz": 1, "num_nodes": 1, "num_replicas": 1, "step_time": 1e-9, "sync_time": 0, "progress": 0,
    "iteration": 0, "grad_sqr": 0, "grad_var": 0,
}  # fmt: skip
Shape = tuple[int, ...]  # GPUs on each node


def placements(folder: Path, *names: str) -> tuple[list[Shape], list[Array]]:
    """The placements that were measured, and the named columns. Raises BloxError naming file and line."""
    rows = read_delimited(str(folder / "placements.csv"), required=("placement", *names))
    texts = rows.text("placement")
    wrong = np.fromiter((re.fullmatch("[0-9]{1,64}", text) is None for text in texts), bool, len(rows))
    rows.fault(wrong, lambda row: f"placement is {texts[row]!r}", "write a digit per node: its GPUs")
    columns = _checked(rows, names)
    return [tuple(int(digit) for digit in text) for text in texts], columns


def figures(file: Path, *names: str) -> list[Array]:
    """The named columns of a file. Raises BloxError naming file and line."""
    return _checked(read_delimited(str(file), required=names), names)


def validation_runs(folder: Path, *names: str) -> dict[int, dict[str, Array]]:
    """By total batch size: columns with a value per epoch."""
    runs = {}
    for file in sorted(folder.glob("validation-*.csv")):
        if size := re.fullmatch(r"validation-([1-9][0-9]{0,8})", file.stem):
            runs[int(size[1])] = dict(zip(names, figures(file, *names)))
    if not runs:
        raise BloxError(
            "no validation-<batch size>.csv here", where=str(folder), fix="give Pollux's own profiles"
        )
    return runs


def _checked(rows: SourceRows, names: tuple[str, ...]) -> list[Array]:
    found = [rows.number(name, least=LEAST.get(name, -math.inf)) for name in names]
    if rows.problems:
        raise sorted(rows.problems)[0].error(rows.source)
    if not len(rows):
        raise BloxError("no measurements in the file", where=rows.source, fix="give at least one line")
    return found
