"""Slurm's accounting log: what `sacct -P` prints, with its columns in any order, or `sacct --json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from blox.registry import register
from blox.workloads.extra import texts
from blox.workloads.large_tables import first_line, read_large
from blox.workloads.log_fields import attempts, logged_times, map_cells, times_of_runs
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.sacct_json import sacct_rows
from blox.workloads.slurm_fields import Tres, duration_s, tres
from blox.workloads.source_rows import SourceRows, read_delimited
from blox.workloads.table import Array
from blox.workloads.text_files import read_text, require_file

EXPORT = (
    "sacct -a -X -P -S 2026-01-01 -E now --format="
    "JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,Timelimit,State,ReqTRES,AllocTRES"
)
# columns that are used where present, as sacct writes them: it takes their names in any case
_NEEDED = ("JobID", "Submit", "Start")
_USED = (
    *("User", "Account", "Partition", "QOS", "Eligible", "End", "Elapsed", "ElapsedRaw", "Timelimit"),
    *("TimelimitRaw", "State", "ReqTRES", "AllocTRES"),
)


@register.reader("slurm")
@dataclass(frozen=True)
class Slurm(TraceReader):
    """Reads the accounting log of a Slurm cluster: `sacct -P` or `sacct --json`.

    A line is a job as the cluster saw it: steps are passed over, every task of an array is a job (arrays are
    groups), and so is every attempt of one that was requeued (`sacct -D` lists them). `types=requested` binds
    a job to the GPU types that it asked for, `ignore` to none.
    """

    types: Literal["requested", "ignore"] = "requested"

    required: ClassVar[tuple[str, ...]] = _NEEDED
    optional: ClassVar[tuple[str, ...]] = _USED
    names: ClassVar[Names] = {
        "job_id": "JobID",
        "submit_s": "Submit",
        "logged_start_s": "Start",
        "gpus": "the number of GPUs",
        "duration_s": "End - Start",
        "limit_s": "Timelimit",
    }
    relative: ClassVar[bool] = False
    default_performance: ClassVar[str] = "duration"  # a job took as long as it took on the GPUs that it had
    assumptions: ClassVar[tuple[str, ...]] = (
        "failed, cancelled and timed-out jobs are kept if they ran: they held GPUs",
        "no models are named; the time limit is what a user asked for (--belief limit)",
    )

    def rows(self) -> SourceRows:
        file = require_file(self.path)
        header = first_line(file)
        if header is not None and header.lstrip()[:1] not in ("{", "["):
            mark, names = _header(header)
            wanted = (*_NEEDED, *_USED, self.group, *self.keep)
            if set(_NEEDED) <= set(names):
                found = read_large(file, wanted, delimiter=mark, names=names, without_steps="JobID")
                if found is not None:
                    found.source = self.path
                    return found
        text = read_text(self.path)
        if text.lstrip()[:1] in ("{", "["):
            return sacct_rows(self.path, text)
        first, _, rest = text.partition("\n")
        mark, names = _header(first)
        text = f"{mark.join(names)}\n{rest}"
        return read_delimited(self.path, required=self.required, delimiter=mark, text=text, quotes=False)

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        ids = _pass_over_steps(rows)
        start = logged_times(rows, "Start")
        times = times_of_runs(rows, _since_s(rows), start, _end_s(rows, start))
        held = _resources(rows)
        rows.leave_out(held["gpus"] == 0, "it held no GPU")
        found = {
            "job_id": attempts(rows, ids, start),
            **times,
            "group": texts([job.partition("_")[0] if "_" in job else "" for job in ids.tolist()]),
            **held,
        }
        if self.types == "ignore":
            del found["gpu_types"]
        for ours, theirs in (("user", "User"), ("tenant", "Account")):
            if rows.has(theirs):
                found[ours] = rows.text(theirs)
        if (limit := _limit_s(rows)) is not None:
            found["limit_s"] = limit
        return found

    def own_columns(self, rows: SourceRows) -> dict[str, Array]:
        """`partition`, `qos`, and `ended_as`: the state without what stands behind it."""
        found = {}
        for ours, theirs in (("partition", "Partition"), ("qos", "QOS")):
            if rows.has(theirs):
                found[ours] = rows.text(theirs)
        if rows.has("State"):
            found["ended_as"] = texts([state.partition(" ")[0] for state in rows.columns["State"]])
        return found


def _header(line: str) -> tuple[str, list[str]]:
    """What stands between the cells of a log, and its columns as sacct spells them."""
    mark = max("|\t;", key=line.count)
    spelt = {name.lower(): name for name in (*_NEEDED, *_USED)}
    return mark, [spelt.get(cell.strip().lower(), cell.strip()) for cell in line.split(mark)]


def _pass_over_steps(rows: SourceRows) -> Array:
    """The ids of all lines; lines of steps, and headers of exports that were put together, are dropped."""
    ids = rows.text("JobID")
    cells = ids.tolist()
    steps = np.fromiter(("." in job for job in cells), dtype=bool, count=len(cells))
    if steps.any():
        rows.notes.append(f"passed over {int(steps.sum()):,} lines of job steps")
    headers = np.fromiter((job == "JobID" for job in cells), dtype=bool, count=len(cells))
    rows.kept &= ~(steps | headers)
    return ids


def _end_s(rows: SourceRows, start: Array) -> Array:
    """When jobs ended: as the log says, or their start and the time that passed."""
    if rows.has("End") or not (rows.has("Elapsed") or rows.has("ElapsedRaw")):
        return logged_times(rows, "End")
    if rows.has("ElapsedRaw"):
        return start + rows.number("ElapsedRaw", default=np.nan, least=0)
    fix = f"write it as 1-02:03:04; or export the times: {EXPORT}"
    return start + map_cells(rows, "Elapsed", duration_s, fix)


def _since_s(rows: SourceRows) -> Array:
    """Since when jobs could run: from their submission, or later where something else had to come first."""
    submit = logged_times(rows, "Submit", needed=True)
    if not rows.has("Eligible"):
        return submit
    eligible = logged_times(rows, "Eligible")
    later = int(np.count_nonzero(rows.kept & (eligible > submit)))
    if later:
        rows.notes.append(
            f"{later:,} jobs could run later than they were submitted (a dependency, a start time): they "
            "count as submitted from then on"
        )
    return np.fmax(submit, eligible)


def _limit_s(rows: SourceRows) -> Array | None:
    if rows.has("TimelimitRaw"):
        minutes = map_cells(rows, "TimelimitRaw", _minutes, "write minutes, or nothing")
        return np.where(minutes > 0, 60 * minutes, np.nan)
    if not rows.has("Timelimit"):
        return None
    limit = map_cells(rows, "Timelimit", duration_s, "write it as 1-02:03:04, or UNLIMITED")
    return np.where(limit > 0, limit, np.nan)


def _minutes(cell: str) -> float:
    return np.nan if duration_s(cell) != duration_s(cell) else float(cell)


def _resources(rows: SourceRows) -> dict[str, Array]:
    """GPUs, cores and memory: what a job held, or else what it asked for; GPU types as it asked for them."""
    listed = [_tres_column(rows, name) for name in ("AllocTRES", "ReqTRES") if rows.has(name)]
    if not listed:
        rows.text("AllocTRES")  # which raises, naming the columns that are there
    merged = [
        held if held.gpus or held.cpu == held.cpu else asked for held, asked in zip(listed[0], listed[-1])
    ]
    asked_types = [asked.gpu_types for asked in listed[-1]] if rows.has("ReqTRES") else [""] * len(rows)
    return {
        "gpus": np.array([each.gpus for each in merged], dtype=np.float64),
        "gpu_types": texts(asked_types),
        "cpu": np.array([each.cpu for each in merged], dtype=np.float64),
        "memory_gb": np.array([each.memory_gb for each in merged], dtype=np.float64),
    }


def _tres_column(rows: SourceRows, name: str) -> list[Tres]:
    """A column of TRES; a text that cannot be read is a fault of its line. Most lines say the same."""
    cells = rows.columns[name]
    known: dict[str, Tres] = {}
    wrong: set[str] = set()
    for cell in set(cells):
        try:
            known[cell] = tres(cell.strip())
        except ValueError:
            known[cell] = Tres()
            wrong.add(cell)
    if wrong:
        bad = rows.kept & np.fromiter((cell in wrong for cell in cells), dtype=bool, count=len(cells))
        rows.fault(bad, lambda row: f"{name} is {cells[row]!r}", "write it as cpu=8,mem=64G,gres/gpu=4")
        rows.kept &= ~bad
    return [known[cell] for cell in cells]
