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

# What the scheduler itself keeps about a job, beside the columns of its submission.
_OWN: dict[str, tuple[Any, Any]] = {
    "expected_s": (np.float64, NAN),  # believed duration in isolation; the truth stays with the backend
    "status": (np.int8, SUBMITTED),
    "admit_s": (np.float64, NAN),
    "first_start_s": (np.float64, NAN),
    "finish_s": (np.float64, NAN),
    "preemptions": (np.int64, 0),
    "moves": (np.int64, 0),
    "done0": (np.float64, 0.0),  # seconds of isolated work done at the anchor
    "rate": (np.float64, 0.0),  # work per second since the anchor; 0 when not running
    "anchor": (np.float64, 0.0),  # in the future while a launch costs time
    "held_gpus": (np.int64, 0),  # GPUs held now
    "gpu_rate": (np.float64, 0.0),  # the same number: GPU-seconds received per second
    "held_since": (np.float64, 0.0),  # start of the present stint; after a preemption, its time
    "held0": (np.float64, 0.0),  # GPU-seconds of earlier stints
    "run0": (np.float64, 0.0),  # seconds of earlier stints
}
SUBMISSION: dict[str, tuple[Any, Any]] = {
    name: (c.dtype, "" if c.is_text else c.default) for name, c in COLUMNS.items() if name != "duration_s"
}
_ALL = {**SUBMISSION, **_OWN}
# Of its own columns, those that say something to a policy; the others are how progress is kept.
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
    expected_s: Array
    status: Array
    admit_s: Array
    first_start_s: Array
    finish_s: Array
    preemptions: Array
    moves: Array
    done0: Array
    rate: Array
    anchor: Array
    held_gpus: Array
    gpu_rate: Array
    held_since: Array
    held0: Array
    run0: Array

    extra: dict[str, Array]

    def __init__(self, size: int = 0) -> None:
        for name, (dtype, default) in _ALL.items():
            setattr(self, name, np.full(size, default if default is not None else 0, dtype=dtype))
        self.extra = {}

    def copy(self, rows: int, size: int) -> Columns:
        """The first rows of every column, in columns of another size."""
        twin = Columns(size)
        for name in _ALL:
            getattr(twin, name)[:rows] = getattr(self, name)[:rows]
        for name, values in self.extra.items():
            twin.put_extra(name, 0, values[:rows])
        return twin

    def select(self, rows: Array) -> Columns:
        """These rows of every column, in this order."""
        twin = Columns()
        for name in _ALL:
            setattr(twin, name, getattr(self, name)[rows])
        twin.extra = {name: values[rows] for name, values in self.extra.items()}
        return twin

    def named(self, name: str) -> Array:
        """Any column by its name; an unknown name is answered with the known ones."""
        found = self.extra.get(name)
        if found is None:
            found = self.__dict__.get(name)
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


class ScalarColumns:
    """The columns of numbers, one plain number at a time: faster to read and write than arrays."""

    __slots__ = (*_OWN, "gpus", "submit_s")

    submit_s: memoryview[float]
    gpus: memoryview[int]
    expected_s: memoryview[float]
    status: memoryview[int]
    admit_s: memoryview[float]
    first_start_s: memoryview[float]
    finish_s: memoryview[float]
    preemptions: memoryview[int]
    moves: memoryview[int]
    done0: memoryview[float]
    rate: memoryview[float]
    anchor: memoryview[float]
    held_gpus: memoryview[int]
    gpu_rate: memoryview[float]
    held_since: memoryview[float]
    held0: memoryview[float]
    run0: memoryview[float]

    def __init__(self, columns: Columns) -> None:
        for name in self.__slots__:
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
