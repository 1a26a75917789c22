"""`sacct --json` as rows with the names and words of `sacct -P`: both are then read alike.

Versions of Slurm differ: numbers come plain or as {"set", "infinite", "number"}, states as a word or a list.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.workloads.json_lists import json_objects
from blox.workloads.source_rows import SourceRows

_COLUMNS = (
    *("JobID", "User", "Account", "Partition", "QOS", "Submit", "Eligible", "Start", "End"),
    *("TimelimitRaw", "State", "ReqTRES", "AllocTRES"),
)


def sacct_rows(path: str, text: str) -> SourceRows:
    """One row per job; the line is that on which its object begins."""
    columns: dict[str, list[str]] = {name: [] for name in _COLUMNS}
    lines, faults = list[int](), dict[int, str]()
    for line, job in json_objects(path, text, "jobs", "the output of sacct --json"):
        try:
            cells = _cells(job)
        except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
            cells = [""] * len(_COLUMNS)
            missing = isinstance(error, KeyError)
            faults[len(lines)] = f"the job {'has no' if missing else 'cannot be read:'} {error}"
        for name, cell in zip(_COLUMNS, cells):
            columns[name].append(cell)
        lines.append(line)
    rows = SourceRows(path, columns, lines)
    wrong = np.zeros(len(rows), dtype=bool)
    wrong[list(faults)] = True
    rows.fault(wrong, lambda row: faults[row], "give job_id, time and tres as sacct --json does")
    rows.kept &= ~wrong
    return rows


def _cells(job: dict[str, Any]) -> list[str]:
    time, resources, array = job["time"], job["tres"], job.get("array") or {}
    task = _number(array.get("task_id"))
    in_array = array.get("job_id") and task is not None
    state = (job.get("state") or {}).get("current") or ""
    return [
        f"{array['job_id']}_{task}" if in_array else str(job["job_id"]),
        *(str(job.get(name) or "") for name in ("user", "account", "partition", "qos")),
        *(_moment(time.get(name)) for name in ("submission", "eligible", "start", "end")),
        str(_number(time.get("limit")) or ""),
        str(state[0] if isinstance(state, list) else state),
        _tres(resources.get("requested")),
        _tres(resources.get("allocated")),
    ]


def _number(value: Any) -> int | float | None:
    """A number of either form; None where it is not set or infinite."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    if value is None or isinstance(value, bool):
        return None
    if not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not a number")
    return value


def _moment(value: Any) -> str:
    return str(_number(value) or "Unknown")


def _tres(listed: Any) -> str:
    """A list of {"type", "name", "count"} as sacct -P writes it."""
    found = []
    for each in listed or ():
        kind, name, count = each["type"], each.get("name"), _number(each.get("count"))
        unit = "M" if kind == "mem" else ""
        found.append(f"{kind}{'/' + str(name) if name else ''}={count or 0}{unit}")
    return ",".join(found)
