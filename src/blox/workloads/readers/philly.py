"""Microsoft's Philly trace (2017): the published `cluster_job_log`, and a CSV derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.json_lists import json_objects
from blox.workloads.readers.base import Names, TraceReader, only_tenant
from blox.workloads.source_rows import SourceRows, read_delimited, seconds_of
from blox.workloads.table import Array
from blox.workloads.text_files import read_text


@register.reader("philly")
@dataclass(frozen=True)
class Philly(TraceReader):
    """Reads `cluster_job_log` (JSON), or a CSV of timestamp, duration, num_gpus and cluster.

    `tenant` keeps one virtual cluster. In the log a job's duration is the sum of its attempts, and its GPUs
    are those of the first attempt that lists any.
    """

    tenant: str = ""

    required: ClassVar[tuple[str, ...]] = ("timestamp", "duration", "num_gpus")
    optional: ClassVar[tuple[str, ...]] = ("cluster",)
    names: ClassVar[Names] = {"submit_s": "timestamp", "gpus": "num_gpus", "duration_s": "duration"}
    relative: ClassVar[bool] = False
    assumptions: ClassVar[tuple[str, ...]] = (
        "no models are named; failed and killed jobs are kept, for they really ran",
    )

    def rows(self) -> SourceRows:
        text = read_text(self.path)
        if text.lstrip()[:1] in ("[", "{"):
            return _log_rows(self.path, text)
        return read_delimited(self.path, required=self.required, text=text)

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        if rows.has("jobid"):
            return self._from_log(rows)
        if self.tenant:
            only_tenant(rows, "cluster", self.tenant)
        duration = rows.number("duration")
        rows.leave_out(duration == 0, "duration is 0, it never ran")
        gpus = rows.whole("num_gpus")
        rows.leave_out(gpus == 0, "num_gpus is 0")
        found = {
            "job_id": np.arange(len(rows)),
            "submit_s": rows.time("timestamp"),
            "gpus": gpus,
            "duration_s": duration,
        }
        rows.notes.append("jobs are numbered from 0 in the order of the file, which names none")
        if rows.has("cluster"):
            found["tenant"] = rows.text("cluster")
        return found

    def _from_log(self, rows: SourceRows) -> dict[str, Array]:
        only_tenant(rows, "vc", self.tenant)
        rows.leave_out(rows.empty("duration"), "no attempt has both a start and an end")
        rows.leave_out(rows.empty("gpus"), "no attempt lists a GPU")
        duration = rows.number("duration")
        rows.leave_out(duration <= 0, "the attempts took no time")
        rows.notes.append(
            "duration is the sum of a job's attempts; GPUs are those of the first attempt that lists any"
        )
        return {
            "job_id": rows.text("jobid"),
            "submit_s": rows.time("submitted_time"),
            "gpus": rows.whole("gpus"),
            "duration_s": duration,
            "user": rows.text("user"),
            "tenant": rows.text("vc"),
        }


def _log_rows(path: str, text: str) -> SourceRows:
    """One row per job of the log; the line is that on which the job's object begins."""
    names = ("jobid", "submitted_time", "user", "vc", "duration", "gpus")
    columns: dict[str, list[str]] = {name: [] for name in names}
    lines: list[int] = []
    faults: list[tuple[int, str]] = []
    for line, job in json_objects(path, text):
        try:
            cells = _log_cells(job)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            cells = [""] * len(names)
            faults.append((len(lines), _words(error)))
        for name, cell in zip(names, cells):
            columns[name].append(cell)
        lines.append(line)
    rows = SourceRows(path, columns, lines)
    words = dict(faults)
    wrong = np.zeros(len(rows), dtype=bool)
    wrong[list(words)] = True
    rows.fault(
        wrong, lambda row: words[row], "give jobid, submitted_time and attempts as cluster_job_log does"
    )
    rows.kept &= ~wrong
    return rows


def _log_cells(job: dict[str, Any]) -> list[str]:
    attempts = job["attempts"]
    times = [(a.get("start_time"), a.get("end_time")) for a in attempts]
    known = [(s, e) for s, e in times if _known(s) and _known(e)]
    seconds = sum(seconds_of(e) - seconds_of(s) for s, e in known)
    counts = [sum(len(node["gpus"]) for node in a.get("detail") or ()) for a in attempts]
    gpus = next((c for c in counts if c), 0)
    return [
        str(job["jobid"]),
        str(job["submitted_time"]),
        str(job.get("user") or ""),
        str(job.get("vc") or ""),
        repr(seconds) if known else "",
        str(gpus) if gpus else "",
    ]


def _known(moment: Any) -> bool:
    return moment not in (None, "", "None")


def _words(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the job has no {error.args[0]!r}"
    return f"the job cannot be read: {error}"
