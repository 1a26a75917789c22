"""Whether a job can be what its user submits. What cannot is refused in words, before anything is stored."""

from __future__ import annotations

import math
from functools import lru_cache

import msgspec

from blox import registry
from blox.cluster.protocol.messages import JobSpec
from blox.errors import BloxError, suggestion
from blox.workloads.columns import MOST_GPUS

LARGEST = 16 << 10  # bytes of a job: what a node should run fits into a message
LONGEST = 200  # characters of a name
MOST_VARIABLES = 100
_WHERE = "submit"


def check_spec(spec: JobSpec, gpus: int) -> None:
    """Raises BloxError. `gpus`: how many the cluster has; 0: no node has joined yet."""
    _check_texts(spec)
    _check_gpus(spec, gpus)
    _check_part("launch", spec.launch)
    _check_part("preemption", spec.preemption)
    if spec.expected_s is not None and not 0 < spec.expected_s < 1e12:
        raise BloxError(f"expected_s is {spec.expected_s}", where=_WHERE, fix="give seconds above 0")
    if not math.isfinite(spec.priority):
        raise BloxError(f"priority is {spec.priority}", where=_WHERE, fix="give a number")
    if spec.loss_threshold is not None and not 0 < spec.loss_threshold <= 1:
        fix = "give a share above 0, and at most 1: 0.002"
        raise BloxError(f"loss_threshold is {spec.loss_threshold}", where=_WHERE, fix=fix)


def _check_texts(spec: JobSpec) -> None:
    if not spec.command or not spec.command[0]:
        raise BloxError("the job has no command", where=_WHERE, fix="give one behind `--`")
    for name in ("name", "user", "tenant"):
        length = len(getattr(spec, name))
        if length > LONGEST:
            raise BloxError(f"{name} has {length:,} characters", where=_WHERE, fix=f"{LONGEST} at most")
    if len(spec.environment) > MOST_VARIABLES or any(not name or "=" in name for name in spec.environment):
        fix = f"{MOST_VARIABLES} variables at most, with names without `=`"
        raise BloxError("the environment cannot be used", where=_WHERE, fix=fix)
    if any("\0" in text for text in (*spec.command, spec.directory, *spec.environment, *_values(spec))):
        raise BloxError("a text has a null character", where=_WHERE, fix="no program can be given one")
    size = len(msgspec.msgpack.encode(spec))
    if size > LARGEST:
        fix = f"{LARGEST:,} at most: put long lists into a file"
        raise BloxError(f"the job has {size:,} bytes", where=_WHERE, fix=fix)


def _values(spec: JobSpec) -> list[str]:
    return list(spec.environment.values())


def _check_gpus(spec: JobSpec, gpus: int) -> None:
    least, most = spec.min_gpus or spec.gpus, spec.max_gpus or spec.gpus
    if not 1 <= least <= spec.gpus <= most <= MOST_GPUS:
        raise BloxError(
            f"gpus is {spec.gpus}, min_gpus {spec.min_gpus}, max_gpus {spec.max_gpus}",
            where=_WHERE,
            fix="give 1 or more GPUs, between min_gpus and max_gpus where these are given",
        )
    if gpus and least > gpus:
        raise BloxError(
            f"the job needs {least} GPUs, and the cluster has {gpus}",
            where=_WHERE,
            fix="ask for fewer, or add nodes first",
        )


@lru_cache(maxsize=100)
def _check_part(kind: str, named: str) -> None:
    """Raises BloxError for a part that cannot be built. What could is known from then on."""
    name = named.partition(":")[0]
    if name not in (known := registry.names(kind)):  # no files: nodes do not have those of users
        raise BloxError(f"no {kind} is called {name!r}", where=f"--{kind}", fix=suggestion(name, known))
    registry.build(kind, named)
