"""Workloads of Kueue, the job queue of Kubernetes: what `kubectl get workloads -A -o json` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from blox.registry import register
from blox.workloads.extra import texts
from blox.workloads.json_lists import json_objects
from blox.workloads.log_fields import logged_times, times_of_runs
from blox.workloads.readers.base import Names, TraceReader
from blox.workloads.source_rows import SourceRows
from blox.workloads.table import Array
from blox.workloads.text_files import read_text

_COLUMNS = (
    *("id", "namespace", "queue", "user", "created", "started", "ended"),
    *("gpus", "cpu", "memory_gb", "limit", "priority"),
)
_GPU = re.compile(r"(?:.*/)?gpu")  # nvidia.com/gpu, amd.com/gpu
_QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)(m|[kKMGTP]i?)?")
_SCALE = {"": 1.0, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
_OWNER = "kueue.x-k8s.io/owner"  # a label that some sites set


@register.reader("kueue")
@dataclass(frozen=True)
class Kueue(TraceReader):
    """Reads a list of Kueue workloads in JSON; `kubectl get workloads -A -o json` prints one.

    A workload runs from its admission to its end. Its GPUs are what its containers ask for, times the pods.
    """

    required: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[Names] = {
        "job_id": "metadata.name",
        "submit_s": "metadata.creationTimestamp",
        "logged_start_s": "the time of its admission",
        "gpus": "the number of GPUs",
        "duration_s": "the time from admission to end",
        "limit_s": "spec.maximumExecutionTimeSeconds",
    }
    relative: ClassVar[bool] = False
    default_performance: ClassVar[str] = "duration"
    assumptions: ClassVar[tuple[str, ...]] = (
        "a workload runs from its last admission to its end, whatever its pods did in between",
        "failed workloads are kept; those that were deleted are not in the list",
    )

    def rows(self) -> SourceRows:
        text = read_text(self.path)
        columns: dict[str, list[str]] = {name: [] for name in _COLUMNS}
        lines, faults = list[int](), dict[int, str]()
        for line, workload in json_objects(self.path, text, "items", "kubectl get workloads -A -o json"):
            try:
                cells = _cells(workload)
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                cells = [""] * len(_COLUMNS)
                missing = isinstance(error, KeyError)
                faults[len(lines)] = f"the workload {'has no' if missing else 'cannot be read:'} {error}"
            for name, cell in zip(_COLUMNS, cells):
                columns[name].append(cell)
            lines.append(line)
        rows = SourceRows(self.path, columns, lines)
        wrong = np.zeros(len(rows), dtype=bool)
        wrong[list(faults)] = True
        rows.fault(wrong, lambda row: faults[row], "give metadata, spec and status as Kueue has them")
        rows.kept &= ~wrong
        return rows

    def columns(self, rows: SourceRows) -> dict[str, Array]:
        start = logged_times(rows, "started")
        since = logged_times(rows, "created", needed=True)
        times = times_of_runs(rows, since, start, logged_times(rows, "ended"))
        gpus = rows.number("gpus", default=0.0)
        rows.leave_out(gpus == 0, "it held no GPU")
        limit = rows.number("limit", default=np.nan)
        return {
            "job_id": rows.text("id"),
            **times,
            "gpus": gpus,
            "limit_s": np.where(limit > 0, limit, np.nan),
            "cpu": rows.number("cpu", default=np.nan),
            "memory_gb": rows.number("memory_gb", default=np.nan),
            "priority": rows.whole("priority", default=0.0),
            "user": rows.text("user"),
            "tenant": rows.text("namespace"),
        }

    def own_columns(self, rows: SourceRows) -> dict[str, Array]:
        return {"queue": texts(list(rows.columns["queue"]))}


def _cells(workload: dict[str, Any]) -> list[str]:
    metadata, spec, status = workload["metadata"], workload["spec"], workload.get("status") or {}
    at = {
        str(each["type"]): str(each.get("lastTransitionTime", ""))
        for each in status.get("conditions") or ()
        if str(each.get("status")) == "True" or each["type"] == "Admitted"
    }
    gpus, cpu, memory = _resources(spec.get("podSets") or ())
    limit = spec.get("maximumExecutionTimeSeconds")
    namespace = str(metadata.get("namespace") or "")
    return [
        f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"]),
        namespace,
        str(spec.get("queueName") or ""),
        str((metadata.get("labels") or {}).get(_OWNER) or ""),
        str(metadata["creationTimestamp"]),
        at.get("Admitted") or at.get("QuotaReserved", ""),
        at.get("Finished", ""),
        repr(gpus),
        repr(cpu) if cpu else "",
        repr(memory / 2**30) if memory else "",
        "" if limit is None else str(limit),
        str(spec.get("priority") or 0),
    ]


def _resources(pod_sets: Any) -> tuple[float, float, float]:
    """GPUs, cores and bytes of memory of all pods: requests, or limits where a container has no requests."""
    total = [0.0, 0.0, 0.0]
    for pods in pod_sets:
        count = float(pods.get("count", 1))
        for container in pods["template"]["spec"].get("containers") or ():
            given = container.get("resources") or {}
            asked = {**(given.get("limits") or {}), **(given.get("requests") or {})}
            for name, text in asked.items():
                place = 0 if _GPU.fullmatch(name) else {"cpu": 1, "memory": 2}.get(name)
                if place is not None:
                    total[place] += count * _quantity(str(text))
    return total[0], total[1], total[2]


def _quantity(text: str) -> float:
    """A quantity of Kubernetes: `8`, `500m`, `64Gi`."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity")
    unit = match[2] or ""
    return float(match[1]) * (_BINARY[unit] if unit in _BINARY else _SCALE[unit[:1]])
