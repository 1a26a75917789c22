"""Columns: what is known about every job, one array each; ScalarColumns: the same, one value at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.errors import BloxError, suggestion
from blox.workloads.extra import without_values
from blox.workloads.table import COLUMNS, Array

# Lifecycle of a job, in the column `status`. Which admitted jobs run is told by `held_gpus`.
SUBMITTED, ADMITTED, FINISHED = range(3)

SCALAR_MAX = 7  # jobs: so many are handled one by one, as plain numbers; above, arrays are faster
NAN = float("nan")
_UNKNOWN_S: Array = np.array(NAN)
_ZERO: Array = np.array(0.0)
_NONE: Array = np.array(0, dtype=np.int64)

SUBMISSION = tuple(name for name in COLUMNS if name != "duration_s")
# Of the columns that the scheduler itself keeps, those that say something to a policy; the others are how
# progress is kept.
_READ = ("expected_s", "admit_s", "first_start_s", "preemptions", "moves", "held_gpus")


class Columns:
    """The raw columns, one array each, indexed by row. Longer than the table: use rows, not slices.

    `extra`: the workload's own columns by name (`workloads/extra.py`); empty where it has none.
    """

    job_id: Array
    submit_s: Array
    gpus: Array
    user: Array
    tenant: Array
    group: Array
    model: Array
    job_type: Array
    priority: Array
    deadline_s: Array
    limit_s: Array
    min_gpus: Array
    max_gpus: Array
    share_milli: Array
    gpu_types: Array
    cpu: Array
    memory_gb: Array
    batch_size: Array
    min_batch_size: Array
    max_batch_size: Array
    iterations: Array
    iteration_s: Array
    loss_threshold: Array
    loss_target: Array
    logged_start_s: Array

    # What the scheduler itself keeps about a job; its value and type at the submission.
    expected_s: Array = _UNKNOWN_S  # believed duration in isolation; the truth stays with the backend
    status: Array = np.array(SUBMITTED, dtype=np.int8)
    admit_s: Array = _UNKNOWN_S
    first_start_s: Array = _UNKNOWN_S
    finish_s: Array = _UNKNOWN_S
    preemptions: Array = _NONE
    moves: Array = _NONE
    done0: Array = _ZERO  # seconds of isolated work done at the anchor
    rate: Array = _ZERO  # work per second since the anchor; 0 when not running
    anchor: Array = _ZERO  # in the future while a launch costs time
    held_gpus: Array = _NONE  # GPUs held now
    gpu_rate: Array = _ZERO  # the same number: GPU-seconds received per second
    held_since: Array = _ZERO  # start of the present stint; after a preemption, its time
    held0: Array = _ZERO  # GPU-seconds of earlier stints
    run0: Array = _ZERO  # seconds of earlier stints

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
        """Any column by its name; an unknown name is answered with the known ones."""
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
        """Writes a column of the workload's own from row `start` on; it is made where there is none yet."""
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
    for name, column in COLUMNS.items()
    if name in SUBMISSION
}
_DEFAULTS |= {name: value for name, value in vars(Columns).items() if isinstance(value, np.ndarray)}


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

    def __init__(self, columns: Columns) -> None:
        for name in ScalarColumns.__annotations__:
            setattr(self, name, scalar_view(getattr(columns, name)))


def scalar_view(column: Array) -> memoryview[Any]:
    """A column of numbers, to be read and written one at a time."""
    return column.data


def read_only(column: Array) -> Array:
    """The same column, for reading."""
    view = column.view()
    view.flags.writeable = False
    return view


def alike(one: Array, other: Array) -> bool:
    """Whether two arrays of one type hold the same whole numbers: faster than to compare them one by one."""
    return one.tobytes() == other.tobytes()
