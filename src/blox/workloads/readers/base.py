"""What all trace readers share: limits and time scale, faults with file and line, notes of what was assumed.

A reader says which file columns it needs and turns its rows into columns of a JobTable; everything else
is written here, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from blox.errors import BloxError, suggestion
from blox.registry import check_choices, classes
from blox.workloads.columns import WITH_SUBMISSION
from blox.workloads.extra import check_names, numbers_or_text
from blox.workloads.limits import whole
from blox.workloads.source_rows import MissingColumn, Problem, SourceRows, read_delimited
from blox.workloads.table import COLUMNS, Array, JobTable
from blox.workloads.text_files import require_file
from blox.workloads.validity import broken_rules, repeated_ids

_DATES = tuple((name,) for name in ("submit_s", *WITH_SUBMISSION))  # what rules about a single date are of
# how values that come straight out of the file may be called there: our name -> the format's own
Names = dict[str, str]


@dataclass(frozen=True)
class TraceReader(ABC):
    """A trace file and how to read it.

    `start` jobs are skipped in order of submission and `jobs` of the rest are kept (None: all); `scale`
    multiplies the time between submissions, so that 0.5 doubles the load. `group` names a column, of the
    file or of the job table, whose values make jobs one app (the column `group`). Jobs that ask for more
    than `max_gpus` GPUs are left out before anything else. `keep` names columns of the file that come along
    as they are, under their own names, for policies and results.
    """

    path: str
    start: int = 0
    jobs: int | None = None
    scale: float = 1.0
    group: str = ""
    max_gpus: int | None = None
    keep: tuple[str, ...] = ()

    required: ClassVar[tuple[str, ...]] = ()  # columns of the file without which it cannot be read
    optional: ClassVar[tuple[str, ...]] = ()  # columns of the file that are used where present
    names: ClassVar[Names] = {}  # what the file calls our columns, for messages
    relative: ClassVar[bool] = True  # times count from the start of the trace already, and are kept
    assumptions: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_choices(self)
        whole("start", self.start, 0)
        whole("jobs", self.jobs, 1)
        whole("max_gpus", self.max_gpus, 1)
        if not 1e-9 <= self.scale <= 1e9:
            fix = "scale must be above 0, 1e-09 to 1e+09: it multiplies inter-arrival times"
            raise BloxError(f"scale is {self.scale}", fix=fix)

    def rows(self) -> SourceRows:
        """The rows of the file. Formats that are no plain CSV with a header have their own."""
        return read_delimited(self.path, required=self.required)

    @abstractmethod
    def columns(self, rows: SourceRows) -> dict[str, Array]:
        """Columns of a JobTable for all rows, faulty ones and ones left out included."""

    def kept_columns(self, rows: SourceRows) -> list[str]:
        """The columns of the file that come along under their own names."""
        for name in self.keep:
            if not rows.has(name):
                raise BloxError(
                    f"there is no column {name!r} to keep",
                    where=self.path,
                    fix=suggestion(name, rows.columns),
                )
        check_names(self.keep, source=self.path, fix="rename it in the file, or do not keep it")
        return list(self.keep)

    def own_columns(self, rows: SourceRows) -> dict[str, Array]:
        """Columns that the format has and the job table does not, under names of the reader's own."""
        return {}

    def files(self) -> list[Path]:
        """The files that the jobs are made from; their bytes are the workload's checksum."""
        return [require_file(self.path)]

    def read(self) -> JobTable:
        """The jobs of the trace. Raises BloxError naming file and line for the first fault."""
        table, problems = self._parsed()
        if problems:
            raise problems[0].error(self.path, more=len(problems) - 1)
        return table

    def examine(self) -> tuple[JobTable, list[Problem]]:
        """The jobs without a fault, and all faults by line. Raises BloxError where no row can be read.

        Where jobs can be resized, so that they run under `goodput`, its faults are among these: batch sizes
        that an application does not allow. `read` passes them, since another performance model does not care.
        """
        from blox.profiles.batch_sizes import batch_faults
        from blox.profiles.elastic import elastic_profiles

        table, problems = self._parsed()
        if not table.resizable.any() or table.lines is None:
            return table, problems
        found = list(batch_faults(table, elastic_profiles()))
        at_fault = [Problem(int(table.lines[fault.row]), fault.what, fault.fix) for fault in found]
        good = np.ones(len(table), dtype=bool)
        good[[fault.row for fault in found]] = False
        return table.take(np.flatnonzero(good)), sorted([*problems, *at_fault])

    def _parsed(self) -> tuple[JobTable, list[Problem]]:
        """The jobs that break no rule of the job table, and the faults of the others by line."""
        try:
            rows = self.rows()
        except MissingColumn as fault:
            raise self._told_of_other_formats(fault) from None
        with np.errstate(all="ignore"):  # what comes of senseless numbers is out of range, and told below
            columns = {name: values for name, values in self.columns(rows).items() if values is not None}
        if self.group:
            columns["group"] = self._grouped(rows, columns)
        self._check(rows, columns)
        if self.max_gpus is not None:
            rows.leave_out(columns["gpus"] > self.max_gpus, f"of more than {self.max_gpus} GPUs")
        notes = [*self.assumptions, *rows.notes]
        good = rows.kept & ~rows.faulty
        if not good.any() and not rows.problems:
            raise BloxError(
                "no job is left" if len(rows) else "no jobs in the file",
                where=self.path,
                fix="; ".join(rows.notes) or "give at least one line of jobs",
            )
        if not self.relative and good.any():
            notes.append(_shift_to_zero(columns, good))
        ready = {name: _settled(name, values[good]) for name, values in columns.items()}
        extra = {name: numbers_or_text(rows.text(name)[good].tolist()) for name in self.kept_columns(rows)}
        if extra:
            kinds = (f"{n} ({'numbers' if v.dtype.kind == 'f' else 'text'})" for n, v in extra.items())
            notes.append(f"kept the columns {', '.join(kinds)}")
        extra |= {name: values[good] for name, values in self.own_columns(rows).items()}
        table = JobTable.build(ready, source=self.path, lines=rows.lines[good], notes=notes, extra=extra)
        return self._limited(table), sorted(rows.problems)

    def _told_of_other_formats(self, fault: MissingColumn) -> BloxError:
        """The fault, with the format whose columns these are, if there is one."""
        others = [
            name
            for name, reader in sorted(classes("reader").items())
            if reader is not type(self)
            and issubclass(reader, TraceReader)
            and reader.required
            and {*reader.required} <= {*fault.present}
        ]
        if not others:
            return fault
        hint = f"they are those of the format {others[0]}: write {others[0]}:{self.path}"
        return MissingColumn(self.path, fault.name, fault.present, hint)

    def _grouped(self, rows: SourceRows, columns: dict[str, Array]) -> Array:
        """The values by which jobs are one app, as text."""
        if rows.has(self.group):
            return rows.text(self.group)
        if self.group not in columns:
            there = [*rows.columns, *(name for name in columns if name not in rows.columns)]
            raise BloxError(
                f"there is no column {self.group!r} to group jobs by",
                where=self.path,
                fix=suggestion(self.group, there),
            )
        named = np.empty(len(rows), dtype=object)
        named[:] = [str(value) for value in columns[self.group].tolist()]
        return named

    def _check(self, rows: SourceRows, columns: dict[str, Array]) -> None:
        """Adds a fault for each job that breaks a rule; a value at fault already is not counted twice."""
        for rule, broken in broken_rules(columns):
            if rule.needs in _DATES and not self.relative:
                continue  # any will do
            here = columns[rule.column]
            unread = np.zeros(len(rows), dtype=bool)
            for name in rule.needs:
                if columns[name].dtype.kind == "f":
                    unread |= rows.faulty & np.isnan(columns[name])
            called = self.names.get(rule.column, rule.column)
            rows.fault(
                broken & rows.kept & ~unread,
                lambda row, here=here, called=called: f"{called} is {_shown(here[row])}",  # type: ignore[misc]
                f"{called} {rule.text}",
            )
        called = self.names.get("job_id", "job_id")
        kept, ids = np.flatnonzero(rows.kept), columns["job_id"]
        first = {
            int(kept[row]): rows.lines[kept[earlier]] for row, earlier in repeated_ids(ids[kept]).items()
        }
        twice = np.zeros(len(rows), dtype=bool)
        twice[list(first)] = True
        rows.fault(
            twice,
            lambda row: f"the {called} {ids.item(row)!r} is used twice (first in line {first[row]})",
            "give every job its own",
        )

    def _limited(self, table: JobTable) -> JobTable:
        """The table after `start`, `jobs` and `scale`."""
        notes = list(table.notes)
        total = len(table)
        if self.start >= total > 0:
            raise BloxError(
                f"start={self.start} skips all {total} jobs", where=self.path, fix="give a smaller start"
            )
        if self.start or self.jobs is not None:
            stop = None if self.jobs is None else self.start + self.jobs
            table = table.take(slice(self.start, stop))
            notes.append(
                f"kept {len(table):,} of {total:,} jobs: start={self.start}, jobs={self.jobs or 'all'}"
            )
        columns = dict(table.columns)
        submit = columns["submit_s"]
        moved = submit - submit[0] if self.start and len(table) else submit
        if self.start:
            notes.append("submission times shifted so that the first job kept is submitted at 0")
        if self.scale != 1.0:
            moved = moved * self.scale
            if COLUMNS["submit_s"].out_of_range(moved).any():
                raise BloxError(
                    f"scale={self.scale!r} puts the last submission at {float(moved.max()):g} s",
                    where=self.path,
                    fix=f"give a smaller scale: submit_s {COLUMNS['submit_s'].rule}",
                )
            notes.append(
                f"times between submissions multiplied by {self.scale!r}; durations are as they were"
            )
        for name in WITH_SUBMISSION:
            if name in columns:  # by rounding it might come before the submission
                columns[name] = np.maximum(columns[name] + (moved - submit), moved)
        columns["submit_s"] = moved
        return JobTable(columns, table.source, table.lines, tuple(notes), table.extra)


def only_tenant(rows: SourceRows, column: str, tenant: str) -> None:
    """Leaves out the rows of other tenants. Raises BloxError, naming the tenants, if none is left."""
    if not tenant:
        return
    mine = rows.text(column) == tenant
    if not mine.any():
        there = sorted(set(rows.text(column)) - {""})
        raise BloxError(
            f"no job is of the tenant {tenant!r}", where=rows.source, fix=suggestion(tenant, there)
        )
    rows.leave_out(~mine, f"of other tenants than {tenant}")


def _shift_to_zero(columns: dict[str, Array], good: Array) -> str:
    origin = float(columns["submit_s"][good].min())
    for name in ("submit_s", *WITH_SUBMISSION):
        if name in columns:
            columns[name] = columns[name] - origin
    return "submission times count from the first job, which is submitted at 0"


def _settled(name: str, values: Array) -> Array:
    column = COLUMNS[name]
    return values if column.is_text else values.astype(column.dtype)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return repr(value) if value else "empty"
    number = float(value)
    return repr(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)
