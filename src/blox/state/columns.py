"""Columns: what is known about every job, one array each; ScalarColumns: the same, one value at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.workloads.columns import Array, Column, Submission
from blox.workloads.extra import without_values

# Lifecycle of a job, in the column `status`. An admitted job runs if its `held_gpus` is above 0.
SUBMITTED, ADMITTED, FINISHED = range(3)

SCALAR_MAX = 12  # up to this many jobs are handled one by one, as plain numbers; above, arrays are faster
NAN = float("nan")

SUBMISSION = tuple(Submission.declared)
# Of the columns that the scheduler itself keeps, those that are useful to a policy; the rest store progress.
_READ = ("expected_s", "admit_s", "first_start_s", "preemptions", "moves", "held_gpus")


class Columns(Submission):
    """The raw columns, one array each, indexed by row. Longer than the table: use rows, not slices.

    `extra`: the workload's own columns by name (`workloads/extra.py`); empty if it has none.
    """

    # What the scheduler itself keeps about a job, beside the columns of its submission.
    expected_s = Column(np.float64, NAN, "believed duration in isolation; the truth stays with the backend")
    status = Column(np.int8, SUBMITTED, "submitted, admitted or finished")
    admit_s = Column(np.float64, NAN, "when it was admitted")
    first_start_s = Column(np.float64, NAN, "when it first started")
    finish_s = Column(np.float64, NAN, "when it finished")
    preemptions = Column(np.int64, 0, "how often it was suspended")
    moves = Column(np.int64, 0, "how often it was moved to other GPUs")
    done0 = Column(np.float64, 0.0, "seconds of isolated work done at the anchor")
    rate = Column(np.float64, 0.0, "work per second since the anchor; 0 when not running")
    anchor = Column(np.float64, 0.0, "since when the rate holds; in the future while a launch costs time")
    held_gpus = Column(np.int64, 0, "GPUs held now")
    gpu_rate = Column(np.float64, 0.0, "the same number: GPU-seconds received per second")
    held_since = Column(np.float64, 0.0, "start of the present stint; after a preemption, its time")
    held0 = Column(np.float64, 0.0, "GPU-seconds of earlier stints")
    run0 = Column(np.float64, 0.0, "seconds of earlier stints")

    extra: dict[str, Array]

    def __init__(self, size: int = 0) -> None:
        for name, default in _DEFAULTS.items():
            setattr(self, name, np.full(size, default))
        self.extra = {}

    def grown(self, size: int) -> Columns:
        """The same rows in longer columns."""
        twin = Columns(size)
        for name in _DEFAULTS:
            column = getattr(self, name)
            getattr(twin, name)[: len(column)] = column
        for name, values in self.extra.items():
            twin.put_extra(name, 0, values)
        return twin

    def select(self, rows: Array) -> Columns:
        """These rows of every column, in this order."""
        twin = Columns()
        for name in _DEFAULTS:
            setattr(twin, name, getattr(self, name)[rows])
        twin.extra = {name: values[rows] for name, values in self.extra.items()}
        return twin

    def named(self, name: str) -> Array:
        """Any column by its name; the error for an unknown name suggests known ones."""
        found = self.extra.get(name, vars(self).get(name))
        if isinstance(found, np.ndarray):
            return found
        raise BloxError(
            f"no column is called {name!r}",
            where="job_state.column()",
            fix=f"{suggestion(name, (*SUBMISSION, *self.extra, *_READ))}; "
            "?extra=keep behind a CSV workload keeps the columns of its file "
            f"(a policy that says needs_columns = ({name!r},) is told before it runs, and can be checked)",
        )

    def put_extra(self, name: str, start: int, values: Array) -> None:
        """Writes a column of the workload's own from row `start` on; creates the column if it is new."""
        if name not in self.extra:
            self.extra[name] = without_values(values, len(self.job_id))
        if self.extra[name].dtype != values.dtype:
            raise BloxError(
                f"the column {name!r} holds numbers in some jobs and text in others",
                where="workload",
                fix="give all of them numbers, or all of them text",
            )
        self.extra[name][start : start + len(values)] = values


_DEFAULTS: dict[str, Array] = {
    name: np.array("" if column.is_text else column.default or 0, dtype=column.dtype)
    for name, column in Columns.declared.items()
}


class ScalarColumns:
    """Columns of numbers, one plain number at a time: faster to read and write than arrays."""

    submit_s: memoryview[float]
    gpus: memoryview[int]
    expected_s: memoryview[float]
    status: memoryview[int]
    first_start_s: memoryview[float]
    done0: memoryview[float]
    rate: memoryview[float]
    anchor: memoryview[float]
    held_gpus: memoryview[int]
    gpu_rate: memoryview[float]
    held_since: memoryview[float]
    held0: memoryview[float]
    run0: memoryview[float]

    __slots__ = tuple(__annotations__)

    def __init__(self, columns: Columns) -> None:
        for name in self.__slots__:
            setattr(self, name, scalar_view(getattr(columns, name)))


def scalar_view(column: Array) -> memoryview[Any]:
    """A view of a column of numbers that reads and writes one plain number at a time."""
    return column.data


def read_only(column: Array) -> Array:
    """A read-only view of a column."""
    view = column.view()
    view.flags.writeable = False
    return view


def alike(one: Array, other: Array) -> bool:
    """Whether two integer arrays of one dtype are equal; faster than an elementwise comparison."""
    return one.tobytes() == other.tobytes()
