"""JobTable: jobs as columns, the form in which every workload reaches the simulator.

Column names, types, units and defaults are stated once, in COLUMNS; the CSV format, the validator,
JobState and the documentation all read them from there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from blox.errors import BloxError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Column:
    """What one column of a workload holds."""

    name: str
    dtype: Any
    default: Any
    meaning: str

    @property
    def required(self) -> bool:
        return self.default is None

    @property
    def is_text(self) -> bool:
        return self.dtype is object


NAN = float("nan")

# Beyond these a value is a slip of the pen, and a run would take for ever or lose its precision.
LONGEST_S = 1e9  # a job of 31 years
LATEST_S = 1e10  # any date as seconds since 1970, for 300 years to come
MOST_GPUS = 10_000_000
LARGEST_WHOLE = 2.0**53  # beyond it, not every whole number is a float

COLUMNS: dict[str, Column] = {
    column.name: column
    for column in (
        Column("job_id", object, None, "the job's name, unique in the trace"),
        Column(
            "submit_s", np.float64, None, "seconds from the start of the trace at which it is submitted, >= 0"
        ),
        Column("gpus", np.int64, None, "GPUs it asks for, all or nothing, >= 1"),
        Column("duration_s", np.float64, None, "seconds it runs in isolation on what it asks for, > 0"),
        Column("user", object, "", "who submitted it"),
        Column("tenant", object, "", "the team, virtual cluster or queue that it is charged to"),
        Column("group", object, "", "the app or experiment that it belongs to"),
        Column("model", object, "", "the neural network it trains"),
        Column("job_type", object, "", "what kind of job it is: training, evaluation, ..."),
        Column("priority", np.int64, 0, "larger is more urgent"),
        Column(
            "deadline_s", np.float64, NAN, "seconds from the start of the trace by which it should finish"
        ),
        Column("min_gpus", np.int64, 0, "fewest GPUs it can use (0: as many as it asks for)"),
        Column("max_gpus", np.int64, 0, "most GPUs it can use (0: as many as it asks for)"),
        Column("share_milli", np.int64, 1000, "thousandths of each GPU that it needs"),
        Column("gpu_types", object, "", "the GPU types it may use, joined with | (empty: any)"),
        Column("cpu", np.float64, NAN, "CPU cores it asks for in all (empty: its share of the node)"),
        Column(
            "memory_gb", np.float64, NAN, "host memory it asks for in all, GB (empty: its share of the node)"
        ),
        Column("batch_size", np.int64, 0, "samples per step (0: not known)"),
        Column("min_batch_size", np.int64, 0, "fewest samples per step (0: as its application allows)"),
        Column("max_batch_size", np.int64, 0, "most samples per step (0: as its application allows)"),
        Column("iterations", np.float64, NAN, "steps that it takes in all"),
        Column("iteration_s", np.float64, NAN, "seconds per step in isolation"),
    )
}


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
        from blox.workloads.extra import extra_columns

        unknown = set(columns) - set(COLUMNS)
        if unknown:
            raise BloxError(
                f"no column is called {min(unknown)!r}",
                where=source,
                fix=f"valid: {', '.join(COLUMNS)}; columns of your own: extra={{{min(unknown)!r}: ...}}",
            )
        missing = [c.name for c in COLUMNS.values() if c.required and c.name not in columns]
        if missing:
            raise BloxError(
                f"the column {missing[0]!r} is missing",
                where=source,
                fix="give job_id, submit_s, gpus and duration_s",
            )
        arrays = {name: _as_column(COLUMNS[name], values, source, lines) for name, values in columns.items()}
        if len({len(a) for a in arrays.values()}) > 1:
            raise BloxError(
                "the columns differ in length", where=source, fix="give one value per job in each column"
            )
        numbers = None if lines is None else np.asarray(lines)
        own = extra_columns(extra or {}, len(arrays["job_id"]), source=source)
        table = cls(arrays, source, numbers, tuple(notes), own)
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

    def validate(self) -> None:
        """Raises BloxError for the first value that no job can have."""
        c = self.columns
        checks = [
            (
                "gpus",
                ~((c["gpus"] >= 1) & (c["gpus"] <= MOST_GPUS)),
                f"must be a whole number of GPUs, 1 or more, and at most {MOST_GPUS:,}",
            ),
            (
                "duration_s",
                ~((c["duration_s"] > 0) & (c["duration_s"] <= LONGEST_S)),
                f"must be a number above 0, and at most {LONGEST_S:,.0f} (31 years)",
            ),
            (
                "submit_s",
                ~((c["submit_s"] >= 0) & (c["submit_s"] <= LATEST_S)),
                f"must be a number, 0 or more, and at most {LATEST_S:,.0f}",
            ),
        ]
        if "share_milli" in c:
            bad = (c["share_milli"] < 1) | (c["share_milli"] > 1000)
            checks.append(("share_milli", bad, "must be between 1 and 1000"))
        for low, high in (("min_gpus", "gpus"), ("gpus", "max_gpus")):
            if low in c and high in c:
                bad = (c[high] != 0) & (c[low] > c[high])
                checks.append((low, bad, f"must not be above {high}"))
        batches = [each for each in ("min_batch_size", "batch_size", "max_batch_size") if each in c]
        checks += [(each, c[each] < 0, "must be 0 or more") for each in batches]
        for low, high in itertools.combinations(batches, 2):
            bad = (c[low] != 0) & (c[high] != 0) & (c[low] > c[high])
            checks.append((low, bad, f"must not be above {high}, where both are given"))
        for name, bad, rule in checks:
            if bad.any():
                row = int(np.argmax(bad))
                raise BloxError(
                    f"job {c['job_id'][row]!r}: {name} is {c[name][row].item()!r}",
                    where=self.place(row),
                    fix=f"{name} {rule}",
                )
        ids = c["job_id"]
        if len(set(ids.tolist())) != len(ids):
            seen: set[Any] = set()
            for row, job_id in enumerate(ids.tolist()):
                if job_id in seen:
                    raise BloxError(
                        f"the job_id {job_id!r} is used twice",
                        where=self.place(row),
                        fix="give every job its own id",
                    )
                seen.add(job_id)


class Workload(Protocol):
    """A source of jobs.

    `batches(rng)` yields tables in order of submission: the first job of a batch is not submitted
    before the last of the previous one. A trace yields one batch and ends; a generator with
    `jobs=None` never ends. All randomness comes from `rng`, so the same seed gives the same jobs,
    whatever the number of batches that are drawn.
    """

    def batches(self, rng: np.random.Generator) -> Iterator[JobTable]: ...


def _as_column(column: Column, values: Any, source: str, lines: Any) -> Array:
    if column.is_text:
        if isinstance(values, np.ndarray) and values.dtype.kind in "iO":
            return values  # whole numbers are fine as ids
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
        return array
    array = np.asarray(values)
    if column.dtype is np.int64 and array.dtype.kind == "f":
        bad = ~(np.abs(array) <= LARGEST_WHOLE) | (array != np.floor(array))
        if bad.any():
            row = int(np.argmax(bad))
            where = source if lines is None else f"{source}:{int(lines[row])}"
            raise BloxError(
                f"{column.name} is {array[row].item()!r}",
                where=where,
                fix=f"{column.name} must be a whole number",
            )
    return array.astype(column.dtype)
