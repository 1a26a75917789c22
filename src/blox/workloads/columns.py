"""The columns of a job: name, type, default, meaning and valid range of each, stated once.

JobTable, the readers, the CSV format, JobState, `blox workload validate` and the documentation read them
from here. To change what values a column may have, change it where it is declared; rules between two columns
and rules about ids are in `validity.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

Array = np.ndarray[Any, Any]

NAN = float("nan")

# Beyond these a value is a slip of the pen, and a run would take for ever or lose its precision.
SHORTEST_S = 0.001  # a job of a millisecond: generators know no finer times
LONGEST_S = 1e9  # a job of 31 years
LATEST_S = 1e10  # any date as seconds since 1970, for 300 years to come
MOST_GPUS = 10_000_000
LARGEST_SIZE = 1e9  # cores, GB of memory, samples per step
LARGEST_COUNT = 1e15  # steps of a job; priorities, either way
LARGEST_WHOLE = 2.0**53  # beyond it, not every whole number is a float


@dataclass(frozen=True)
class Column:
    """What one column of a workload holds, and which values it may have.

    Values are `least` or more, larger than `above`, and `most` or less, where these are given; infinity
    is never valid. A column without a default is required. `nan` is valid where it is the default: no value.
    """

    dtype: Any
    default: Any
    meaning: str
    least: float | None = None
    above: float | None = None
    most: float | None = None
    note: str = ""  # what `most` amounts to, for messages
    name: str = ""  # that of the attribute by which a table declares it

    def __get__(self, table: object, kind: type) -> Array:
        """Tells type checkers what the attribute of a table is: the values of the column."""
        raise AttributeError(self.name)

    @property
    def required(self) -> bool:
        return self.default is None

    @property
    def is_text(self) -> bool:
        return self.dtype is object

    @property
    def is_whole(self) -> bool:
        return self.dtype is np.int64

    @property
    def rule(self) -> str:
        """The valid range in words that follow the name: `must be a number above 0, and at most 9`."""
        kind = f"a {'whole ' if self.is_whole else ''}number"
        low = f"above {self.above:,g}" if self.above is not None else ""
        if self.least is not None:
            low = f"{self.least:,.0f} or more" if self.least == int(self.least) else f"{self.least:g} or more"
        high = (
            "" if self.most is None else f"at most {self.most:,.0f}{f' ({self.note})' if self.note else ''}"
        )
        if not low and not high:
            return f"must be {kind}"
        bounds = ", and ".join(filter(None, (low, high)))
        if not self.required:
            return f"must be {bounds}"
        return f"must be {kind}{' ' if low.startswith('above') else ', '}{bounds}"

    def out_of_range(self, values: Array) -> Array:
        """Which of the values this column may not have."""
        if self.is_text:
            return np.zeros(len(values), dtype=bool)
        if values.dtype.kind not in "biuf":
            return np.ones(len(values), dtype=bool)
        good = np.isfinite(values)
        if self.is_whole:
            good &= ~not_whole(values)
        if self.least is not None:
            good &= values >= self.least
        if self.above is not None:
            good &= values > self.above
        if self.most is not None:
            good &= values <= self.most
        if isinstance(self.default, float):
            good |= np.isnan(values)
        return ~good


def not_whole(values: Array) -> Array:
    """Which numbers are no whole ones, or too large to be told from their neighbours; not nan."""
    if values.dtype.kind != "f":
        return np.zeros(len(values), dtype=bool)
    wrong: Array = (np.abs(values) > LARGEST_WHOLE) | (np.isfinite(values) & (values != np.floor(values)))
    return wrong


class Table:
    """A class that declares columns as attributes; its instances have the arrays under the same names."""

    declared: ClassVar[dict[str, Column]] = {}

    def __init_subclass__(cls) -> None:
        own = {name: column for name, column in vars(cls).items() if isinstance(column, Column)}
        cls.declared = cls.declared | {name: replace(column, name=name) for name, column in own.items()}
        for name in own:  # Python reads an attribute faster which the class does not have
            delattr(cls, name)


class Submission(Table):
    """What is told of a job when it is submitted: what policies see of it."""

    job_id = Column(object, None, "the job's name, unique in the trace")
    submit_s = Column(
        np.float64,
        None,
        "seconds from the start of the trace at which it is submitted",
        least=0,
        most=LATEST_S,
    )
    gpus = Column(np.int64, None, "GPUs it asks for, all or nothing", least=1, most=MOST_GPUS)
    user = Column(object, "", "who submitted it")
    tenant = Column(object, "", "the team, virtual cluster or queue that it is charged to")
    group = Column(object, "", "the app or experiment that it belongs to")
    model = Column(object, "", "the neural network it trains")
    job_type = Column(object, "", "what kind of job it is: training, evaluation, ...")
    priority = Column(np.int64, 0, "larger is more urgent", least=-LARGEST_COUNT, most=LARGEST_COUNT)
    deadline_s = Column(
        np.float64,
        NAN,
        "seconds from the start of the trace by which it should finish",
        least=0,
        most=10 * LATEST_S,
    )
    limit_s = Column(
        np.float64,
        NAN,
        "seconds it may run at most, as its user asked for",
        above=0,
        most=LONGEST_S,
        note="31 years",
    )
    min_gpus = Column(np.int64, 0, "fewest GPUs it can use (0: as many as it asks for)", least=0)
    max_gpus = Column(
        np.int64, 0, "most GPUs it can use (0: as many as it asks for)", least=0, most=MOST_GPUS
    )
    share_milli = Column(np.int64, 1000, "thousandths of each GPU that it needs", least=1, most=1000)
    gpu_types = Column(object, "", "the GPU types it may use, joined with | (empty: any)")
    cpu = Column(
        np.float64,
        NAN,
        "CPU cores it asks for in all (empty: its share of the node)",
        least=0,
        most=LARGEST_SIZE,
    )
    memory_gb = Column(
        np.float64,
        NAN,
        "host memory it asks for in all, GB (empty: its share of the node)",
        least=0,
        most=LARGEST_SIZE,
    )
    batch_size = Column(np.int64, 0, "samples per step (0: not known)", least=0, most=LARGEST_SIZE)
    min_batch_size = Column(
        np.int64, 0, "fewest samples per step (0: as its application allows)", least=0, most=LARGEST_SIZE
    )
    max_batch_size = Column(
        np.int64, 0, "most samples per step (0: as its application allows)", least=0, most=LARGEST_SIZE
    )
    iterations = Column(np.float64, NAN, "steps that it takes in all", above=0, most=LARGEST_COUNT)
    iteration_s = Column(np.float64, NAN, "seconds per step in isolation", above=0, most=LONGEST_S)
    loss_threshold = Column(
        np.float64,
        NAN,
        "by what share its loss has to fall for it to go on, where jobs end by their loss",
        above=0,
        most=1,
    )
    loss_target = Column(
        np.float64,
        NAN,
        "the loss at which it may end, where jobs end by their loss",
        least=-LARGEST_COUNT,
        most=LARGEST_COUNT,
    )
    logged_start_s = Column(
        np.float64,
        NAN,
        "seconds from the start of the trace at which it really started",
        least=0,
        most=10 * LATEST_S,
    )


class JobColumns(Submission):
    """What a workload tells of a job: how long it runs is known to the backend, and not to policies."""

    duration_s = Column(
        np.float64,
        None,
        "seconds it runs in isolation on what it asks for",
        least=SHORTEST_S,
        most=LONGEST_S,
        note="31 years",
    )


# Those that every job must have come first.
COLUMNS = dict(sorted(JobColumns.declared.items(), key=lambda each: not each[1].required))
# Times that keep their distance from the submission when a trace is shifted, cut or scaled.
WITH_SUBMISSION = ("deadline_s", "logged_start_s")
