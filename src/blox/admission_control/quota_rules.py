"""The rules of a file of quotas: whom each is about, how much it allows, and how far bursts may go above it.

[[quota]]
tenant = "vision"                                   # every job of a tenant
gpus = 32
burst = {gpus = 16, hours = 64, per = "7d"}         # up to 48 GPUs, for 64 GPU-hours a week

[[quota]]
user = "*"                                          # every user by itself
jobs = 4

[[quota]]
tenant = "vision"
gpu_type = "h100"                                   # jobs that are bound to that type
gpus = 8
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blox.durations import parse_duration
from blox.errors import BloxError, suggestion
from blox.state.columns import Columns
from blox.workloads.text_files import read_toml

FIX = (
    'write [[quota]], then tenant = "vision" (or user, job_type, gpu_type; "*": each by itself) and gpus = 32'
)
ABOUT = ("tenant", "user", "job_type", "gpu_type")
_KEYS = (*ABOUT, "jobs", "gpus", "burst", "name")
_BURST = "write burst = {gpus = 16, hours = 64, per = '7d'}"
EACH = "*"


@dataclass(frozen=True)
class Burst:
    """So many GPUs above a quota, until so many GPU-seconds are used, which come back within `per_s`."""

    gpus: int
    gpu_seconds: float
    per_s: float

    @property
    def rate(self) -> float:
        """GPU-seconds that come back per second."""
        return self.gpu_seconds / self.per_s


@dataclass(frozen=True)
class QuotaRule:
    """What jobs a quota is about, and the most jobs and GPUs that they may have admitted; 0: no limit."""

    about: tuple[tuple[str, str], ...]
    jobs: int = 0
    gpus: int = 0
    burst: Burst | None = None
    name: str = ""

    def owner(self, row: int, columns: Columns) -> tuple[str, ...] | None:
        """Whose quota a job counts against: the values that have one each; None: it does not count."""
        found = []
        for column, wanted in self.about:
            if column == "gpu_type":
                types = str(columns.gpu_types[row]).split("|")
                if wanted not in types:
                    return None
                continue
            value = str(getattr(columns, column)[row])
            if wanted == EACH:
                found.append(value)
            elif value != wanted:
                return None
        return tuple(found)


def read_quotas(path: str) -> tuple[QuotaRule, ...]:
    """The rules of a file, in its order. Errors name the rule."""
    tables = read_toml(path, fix=FIX).get("quota")
    if not isinstance(tables, list) or not tables:
        raise BloxError("no quotas", where=path, fix=FIX)
    return tuple(_rule(table, f"{path}, [[quota]] number {number}") for number, table in enumerate(tables, 1))


def _rule(table: Any, where: str) -> QuotaRule:
    if not isinstance(table, dict):
        raise BloxError(f"{table!r} is no quota", where=where, fix=FIX)
    for key in table:
        if key not in _KEYS:
            raise BloxError(f"no setting is called {key!r}", where=where, fix=suggestion(key, _KEYS))
    about = tuple((name, str(table[name])) for name in ABOUT if name in table)
    if not about:
        raise BloxError("it does not say whom it is about", where=where, fix=FIX)
    if dict(about).get("gpu_type") == EACH:
        raise BloxError("gpu_type is '*'", where=where, fix="name a GPU type, in a quota of its own")
    jobs, gpus = (_count(table.get(key, 0), key, where) for key in ("jobs", "gpus"))
    if not jobs and not gpus:
        raise BloxError("it limits nothing", where=where, fix="give jobs, gpus or both")
    burst = None if "burst" not in table else _burst(table["burst"], gpus, where)
    told = " and ".join(f"{name} {value}" if value != EACH else f"each {name}" for name, value in about)
    return QuotaRule(about, jobs, gpus, burst, str(table.get("name") or told))


def _burst(table: Any, gpus: int, where: str) -> Burst:
    if not isinstance(table, dict) or set(table) - {"gpus", "hours", "per"} or "gpus" not in table:
        raise BloxError(f"burst is {table!r}", where=where, fix=_BURST)
    if not gpus:
        raise BloxError("a burst without a limit of GPUs", where=where, fix="give gpus, which it may exceed")
    hours = table.get("hours", 0)
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 < hours < 1e9:
        raise BloxError(f"hours is {hours!r}", where=where, fix=_BURST)
    per = parse_duration(str(table.get("per", "7d")), where=f"{where}, per")
    if not 0 < per < 1e12:
        raise BloxError(f"per is {table.get('per')!r}", where=where, fix=_BURST)
    return Burst(_count(table["gpus"], "burst.gpus", where), 3600.0 * hours, float(per))


def _count(value: Any, key: str, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**9:
        raise BloxError(f"{key} is {value!r}", where=where, fix=f"{key} must be a whole number, 0 or more")
    return value
