"""JobTable: jobs as columns, the form in which every workload reaches the simulator.

What columns there are is stated in `columns.py`, what makes a job valid in `validity.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from blox.errors import BloxError
from blox.workloads.columns import COLUMNS, Array, Column, not_whole
from blox.workloads.extra import check_extra, extra_columns
from blox.workloads.validity import broken_rules, repeated_ids

__all__ = ["COLUMNS", "Array", "Column", "JobTable", "Workload"]


@dataclass(frozen=True)
class JobTable:
    """Jobs in order of submission. Columns that a source does not have are absent and read as defaults.

    `source` names the file or generator for error messages; `lines` are line numbers in it; `notes`
    say what a reader had to assume or left out; `extra` are columns of one's own (`extra.py`).
    """

    columns: dict[str, Array]
    source: str = "workload"
    lines: Array | None = None
    notes: tuple[str, ...] = field(default=())
    extra: dict[str, Array] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        columns: dict[str, Any],
        *,
        source: str,
        lines: Sequence[int] | Array | None = None,
        notes: Sequence[str] = (),
        extra: Mapping[str, Any] | None = None,
    ) -> JobTable:
        """A checked table, sorted by submission (ties keep the order of the source).

        Raises BloxError naming source, line and fix for the first bad value.
        """
        _check_names(columns, source)
        arrays = {name: _as_column(COLUMNS[name], values, source, lines) for name, values in columns.items()}
        numbers = None if lines is None else np.asarray(lines)
        table = cls(arrays, source, numbers, tuple(notes), extra_columns(extra or {}))
        table.validate()
        submit = arrays["submit_s"]
        if len(submit) and np.any(np.diff(submit) < 0):
            table = table.take(np.argsort(submit, kind="stable"))
        return table

    def __len__(self) -> int:
        return len(self.columns["job_id"])

    def column(self, name: str) -> Array:
        """The named column, or its default for every job where the source does not have it."""
        if name in self.columns:
            return self.columns[name]
        if name in self.extra:
            return self.extra[name]
        column = COLUMNS[name]
        return np.full(len(self), column.default, dtype=column.dtype)

    @property
    def least_gpus(self) -> Array:
        """Fewest GPUs that each job can use."""
        least = self.column("min_gpus")
        return np.where(least == 0, self.columns["gpus"], least)

    @property
    def resizable(self) -> Array:
        """Which jobs can use more than one number of GPUs."""
        return np.asarray(self.least_gpus < np.maximum(self.column("max_gpus"), self.columns["gpus"]))

    def take(self, which: Array | slice) -> JobTable:
        """The chosen jobs (an index array, a mask or a slice)."""
        lines = None if self.lines is None else self.lines[which]
        columns, extra = ({n: a[which] for n, a in each.items()} for each in (self.columns, self.extra))
        return JobTable(columns, self.source, lines, self.notes, extra)

    def place(self, index: int) -> str:
        """Where a job stands in its source, for messages."""
        if self.lines is None:
            return self.source
        return f"{self.source}:{int(self.lines[index])}"

    def job_named(self, row: int) -> str:
        """A job as messages name it."""
        return f"job {_plain(self.columns['job_id'], row)!r}"

    def validate(self) -> None:
        """Raises BloxError for the first value that no job can have."""
        _check_names(self.columns, self.source)
        if len({len(values) for values in self.columns.values()}) > 1:
            raise BloxError(
                "the columns differ in length",
                where=self.source,
                fix="give one value per job in each column",
            )
        check_extra(self.extra, len(self), source=self.source)
        ids = self.columns["job_id"]
        for rule, broken in broken_rules(self.columns):
            row = int(np.argmax(broken))
            raise BloxError(
                f"{self.job_named(row)}: {rule.column} is {_plain(self.columns[rule.column], row)!r}",
                where=self.place(row),
                fix=f"{rule.column} {rule.text}",
            )
        for row in repeated_ids(ids):
            raise BloxError(
                f"the job_id {_plain(ids, row)!r} is used twice",
                where=self.place(row),
                fix="give every job its own id",
            )


def _plain(values: Array, row: int) -> Any:
    """A value as Python's own: a column of objects may hold numpy's."""
    value = values.item(row)
    return value.item() if isinstance(value, np.generic) else value


class Workload(Protocol):
    """A source of jobs.

    `batches(rng)` yields tables in order of submission: the first job of a batch is not submitted
    before the last of the previous one. A trace yields one batch and ends; a generator with
    `jobs=None` never ends. All randomness comes from `rng`, so the same seed gives the same jobs,
    whatever the number of batches that are drawn.
    """

    def batches(self, rng: np.random.Generator) -> Iterator[JobTable]: ...


def _check_names(columns: dict[str, Any], source: str) -> None:
    unknown = set(columns) - set(COLUMNS)
    if unknown:
        raise BloxError(
            f"no column is called {min(unknown)!r}",
            where=source,
            fix=f"valid: {', '.join(COLUMNS)}; columns of your own: extra={{{min(unknown)!r}: ...}}",
        )
    missing = [column.name for column in COLUMNS.values() if column.required and column.name not in columns]
    if missing:
        raise BloxError(
            f"the column {missing[0]!r} is missing",
            where=source,
            fix="give job_id, submit_s, gpus and duration_s",
        )


def _as_column(column: Column, values: Any, source: str, lines: Any) -> Array:
    if column.is_text:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iO":
            return values  # whole numbers are fine as ids
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
        return array
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise BloxError(
            f"the column {column.name!r} holds other things than numbers, or numbers beyond measure",
            where=source,
            fix=f"{column.name} {column.rule}",
        )
    wrong = column.is_whole & (not_whole(array) | ~np.isfinite(array))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise BloxError(
            f"{column.name} is {array.item(row)!r}",
            where=source if lines is None else f"{source}:{int(lines[row])}",
            fix=f"{column.name} must be a whole number",
        )
    return array.astype(column.dtype)
