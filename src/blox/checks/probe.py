"""Probe: a guard that asks everything three times, to see whether the answer depends on the state only."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from blox.checks.broken import Broken
from blox.checks.guard import Guard, guard
from blox.checks.seal import REMEDY
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.line import Line
from blox.state.plan import GRANTS, Allocation
from blox.state.schedule import Schedule

_SCHEDULE = ("jobs", "gpus", "gpu_type", *GRANTS)
_ALLOCATION = ("jobs", "counts", "gpus", *GRANTS)


def probe(kind: str, policy: Any, timeout_s: float) -> Any:
    """`policy`, guarded, and asked on two forks of the state before it is asked on the state itself."""
    watched = guard(kind, policy, timeout_s)
    ask = watched.ask

    def ask_thrice(verb: str, job_state: JobState, cluster_state: ClusterState, *arguments: Any) -> Any:
        parameters = repr(policy)
        before = _fingerprint(job_state, cluster_state)
        first = _on_a_fork(watched, ask, verb, job_state, cluster_state, arguments)
        second = _on_a_fork(watched, ask, verb, job_state, cluster_state, arguments)
        answer = ask(verb, job_state, cluster_state, *arguments)
        fault = None
        if repr(policy) != parameters:
            fault = Broken(f"{verb}() changes the policy itself: {policy!r}", fix=_STATELESS, rule="pure")
        elif _fingerprint(job_state, cluster_state) != before:
            fault = Broken(f"{verb}() changes the state", fix=REMEDY, rule="pure")
        elif not _same(first, second):
            one, other = _told_apart(first, second)
            fault = Broken(
                f"{verb}(), asked twice about the same state, gives two answers: {one}, then {other}",
                fix=f"take random numbers from job_state.rng(self), order sets before use; {_STATELESS}",
                rule="deterministic",
            )
        elif not _same(second, answer):
            one, other = _told_apart(second, answer)
            fault = Broken(
                f"{verb}() answers {one} on a fork of the state, and {other} on the state itself",
                fix=_STATELESS,
                rule="fork",
            )
        if fault is not None:
            raise watched.placed_fault(fault, verb, job_state)
        return answer

    watched.ask = ask_thrice
    return watched


_STATELESS = (
    "keep nothing in the policy or its module: what it remembers goes into job_state.memory(self, factory), "
    "which is forked with the state"
)


def _on_a_fork(
    watched: Guard,
    ask: Any,
    verb: str,
    job_state: JobState,
    cluster_state: ClusterState,
    arguments: tuple[Any, ...],
) -> Any:
    try:
        jobs, cluster = job_state.fork(), cluster_state.fork()
    except (Exception, SystemExit) as error:
        fault = Broken(
            f"the policy's memory cannot be copied: {type(error).__name__}: {error}",
            fix="keep plain values in job_state.memory(): numbers, lists, dicts, sets, arrays, dataclasses",
            rule="fork",
        )
        raise watched.placed_fault(fault, verb, job_state) from None
    stand_ins = {id(job_state): jobs, id(cluster_state): cluster}
    return ask(verb, jobs, cluster, *(_in_the_fork(a, stand_ins, job_state, jobs) for a in arguments))


def _in_the_fork(argument: Any, stand_ins: dict[int, Any], job_state: JobState, fork: JobState) -> Any:
    """The same argument as the loop would have given it with the fork."""
    if id(argument) in stand_ins:
        return stand_ins[id(argument)]
    if argument is job_state.waiting:
        return fork.waiting
    if isinstance(argument, Schedule) and argument.jobs is job_state.active:
        return replace(argument, line=Line(fork.active, argument.keys))
    return argument


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Schedule) and isinstance(other, Schedule):
        flags = all(_equal(getattr(one, n), getattr(other, n)) for n in ("strict", "preempt"))
        flags = flags and _equal(_pins(one), _pins(other))
        keys = len(one.keys) == len(other.keys) and all(map(_equal, one.keys, other.keys))
        return flags and keys and all(_equal(getattr(one, n), getattr(other, n)) for n in _SCHEDULE)
    if isinstance(one, Allocation) and isinstance(other, Allocation):
        return all(_equal(getattr(one, n), getattr(other, n)) for n in _ALLOCATION)
    return type(one) is type(other) and _equal(one, other)


def _pins(schedule: Schedule) -> Any:
    pinned = schedule.pinned
    return dict(pinned.items()) if isinstance(pinned, Mapping) else pinned


def _equal(one: Any, other: Any) -> bool:
    # nan equals nan here: that a key may not be nan is another rule, with better words.
    if all(isinstance(value, np.ndarray) and value.dtype != object for value in (one, other)):
        return bool(one.tobytes() == other.tobytes())
    return _written(one) == _written(other)


def _written(value: Any) -> str:
    """A value in full, without the addresses of its objects: those differ between equal answers."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value.tolist() if isinstance(value, np.ndarray) else value))


def _told_apart(one: Any, other: Any) -> tuple[str, str]:
    """Two answers that differ, in words that differ: where they look alike, with what tells them apart."""
    words = _shown(one), _shown(other)
    if words[0] != words[1]:
        return words
    for name, here, there in _pieces(one, other):
        if not _equal(here, there):
            return f"{words[0]} with {name} {_short(here)}", f"{words[1]} with {name} {_short(there)}"
    return words


def _pieces(one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, Schedule) and isinstance(other, Schedule):
        yield from (("the keys", *pair) for pair in zip(one.keys, other.keys))
        yield "keys, in number", len(one.keys), len(other.keys)
        yield "pins", _pins(one), _pins(other)
    names = (*_SCHEDULE, "strict", "preempt") if isinstance(one, Schedule) else _ALLOCATION
    for name in names:
        yield name, getattr(one, name, None), getattr(other, name, None)


def _short(value: Any) -> str:
    return str(value[:8].tolist() if isinstance(value, np.ndarray) else value)[:80]


def _shown(answer: Any) -> str:
    if isinstance(answer, Schedule):
        try:
            return f"the order {answer.jobs[answer.order][:8].tolist()}"
        except Exception:
            return "a Schedule that cannot be ordered"
    if isinstance(answer, Allocation):
        return f"GPUs {dict(list(answer.as_dict().items())[:4])}"
    return str(answer)[:60]


def _fingerprint(job_state: JobState, cluster_state: ClusterState) -> int:
    """A number that differs if anything visible in the states does; what policies remember does not count."""
    found = zlib.crc32(repr((job_state.now, job_state.submitted, cluster_state.free_gpus)).encode())
    for owner in (job_state, job_state.columns, cluster_state):
        for name, value in vars(owner).items():
            if isinstance(value, np.ndarray) and not name.startswith("_"):
                seen = value[: job_state.submitted] if owner is job_state.columns else value
                content = repr(seen.tolist()).encode() if value.dtype == object else seen.tobytes()
                found = zlib.crc32(content, zlib.crc32(name.encode(), found))
    for name in ("jobs", "counts", "gpus"):
        found = zlib.crc32(getattr(cluster_state.allocation, name).tobytes(), found)
    for name, values in sorted(job_state._metrics.items()):
        reported = np.flatnonzero(~np.isnan(values))
        if len(reported):
            found = zlib.crc32(values[reported].tobytes(), zlib.crc32(name.encode(), found))
    return found
