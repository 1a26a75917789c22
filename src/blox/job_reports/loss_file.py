from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from blox.errors import BloxError
from blox.registry import register
from blox.state.jobs import JobState
from blox.workloads.table import Array
from blox.workloads.text_files import read_text, user_path

OTHERS = "*"  # the curve of jobs that have none of their own


class Curves(NamedTuple):
    """The losses after each epoch, by what stands in the column `by` of a job."""

    by: str
    losses: Mapping[str, Array]


@register.reports("loss-file")
@dataclass(frozen=True)
class LossFile:
    """Losses from a CSV file of curves: `job_id,epoch,loss` or `model,epoch,loss`, epochs 1, 2, 3, ...

    A job whose id, or model, has a curve has as many epochs as that and reports its losses. Under `*` stands
    the curve of all others; without one they report nothing.
    """

    path: str = ""

    reports: ClassVar[tuple[str, ...]] = ("loss",)

    def __post_init__(self) -> None:
        if not self.path:
            raise BloxError("a file of curves is missing", fix="loss-file:path=curves.csv")
        _curves(self.path)

    def epochs_of(self, rows: Array, job_state: JobState) -> Array:
        return np.array([len(curve) for curve in self._of(rows, job_state)], dtype=np.int64)

    def report(self, rows: Array, epoch: Array, job_state: JobState) -> dict[str, Array]:
        found = zip(self._of(rows, job_state), epoch.tolist())
        return {"loss": np.array([curve[int(at) - 1] if len(curve) else math.nan for curve, at in found])}

    def _of(self, rows: Array, job_state: JobState) -> list[Array]:
        by, losses = _curves(self.path)
        others = losses.get(OTHERS, np.empty(0))
        names = job_state.columns.named(by).take(rows).tolist()
        return [losses.get(str(name), others) for name in names]


@lru_cache(maxsize=16)
def _curves(path: str) -> Curves:
    """The curves of a file. Raises BloxError with the line of the first value that is none."""
    file = user_path(path)
    reader = csv.reader(io.StringIO(read_text(file), newline=""))
    heads = [head.strip() for head in next(reader, [])]
    if heads[1:] != ["epoch", "loss"] or heads[0] not in ("job_id", "model"):
        fix = "the first line is job_id,epoch,loss or model,epoch,loss"
        raise BloxError(f"the columns are {', '.join(heads) or '(none)'}", where=f"{path}:1", fix=fix)
    found: dict[str, list[float]] = {}
    for cells in reader:
        if any(cell.strip() for cell in cells):
            name, loss = _row(cells, found, f"{path}:{reader.line_num}")
            found.setdefault(name, []).append(loss)
    if not found:
        raise BloxError("no curves", where=path, fix="give a line for every epoch of a job or model")
    return Curves(heads[0], {name: np.array(losses) for name, losses in found.items()})


def _row(cells: list[str], before: Mapping[str, list[float]], where: str) -> tuple[str, float]:
    """The name and the loss of a line; its epoch has to follow the one before."""
    if len(cells) != 3:
        raise BloxError(f"{len(cells)} cells", where=where, fix="give three: a name, an epoch and a loss")
    name, epoch, text = (cell.strip() for cell in cells)
    due = len(before.get(name, ())) + 1
    if epoch != str(due):
        raise BloxError(f"epoch {epoch!r} of {name!r}", where=where, fix=f"here stands epoch {due}")
    try:
        loss = float(text)
    except ValueError:
        loss = math.nan
    if not math.isfinite(loss):
        raise BloxError(f"the loss is {text!r}", where=where, fix="give a number")
    return name, loss
