"""seal(): makes the two states read-only while a policy looks at them, at no cost that grows with the jobs.

Arrays refuse to be written to, so that the fault is raised on the very line that commits it; what was
assigned anew is found by comparison afterwards. What accessors such as `job_state.gpus` return is read-only
too: it is a copy, and a policy that writes to it means to change the state. Names that begin with an
underscore are left alone: they belong to the states themselves, as does what policies remember.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from operator import is_
from typing import Any

import numpy as np

from blox.checks.broken import Broken
from blox.state.cluster import ClusterState
from blox.state.columns import ScalarColumns, read_only
from blox.state.jobs import JobState
from blox.workloads.table import Array

REMEDY = (
    "work on a copy (array.copy()); what a policy remembers between rounds goes into "
    "job_state.memory(self, factory)"
)

_ABSENT = object()


class SealedJobState(JobState):
    """A JobState whose columns, as its accessors give them, cannot be written to."""

    @property
    def active(self) -> Array:
        return super().active

    @active.setter
    def active(self, rows: Array) -> None:
        raise _assigned("job_state.active")

    @property
    def scalars(self) -> ScalarColumns:  # type: ignore[override]
        return ScalarColumns(self.columns)  # of columns that are locked by now

    def column(self, name: str) -> Array:
        return read_only(super().column(name))

    def metric(self, name: str) -> Array:
        return read_only(super().metric(name))

    @property
    def gpus(self) -> Array:
        return read_only(super().gpus)

    @property
    def submit_s(self) -> Array:
        return read_only(super().submit_s)

    @property
    def priority(self) -> Array:
        return read_only(super().priority)

    @property
    def held_gpus(self) -> Array:
        return read_only(super().held_gpus)

    @property
    def running(self) -> Array:
        return read_only(super().running)

    def fork(self) -> JobState:
        """A fork is the policy's own, and open."""
        twin = super().fork()
        twin.__class__ = JobState
        return twin


@contextmanager
def seal(job_state: JobState, cluster_state: ClusterState) -> Iterator[None]:
    """Raises Broken if the states are different afterwards in anything but policy memory."""
    owners: tuple[tuple[str, Any], ...] = (
        ("job_state", job_state),
        ("job_state.columns", job_state.columns),
        ("cluster_state", cluster_state),
    )
    before = [(name, owner, _attributes(owner)) for name, owner in owners]
    holdings, revision = cluster_state.holdings, cluster_state.holdings.revision
    arrays: list[Array] = [
        value
        for _, _, attributes in before
        for attribute, value in attributes.items()
        if isinstance(value, np.ndarray) and attribute[0] != "_"
    ]
    arrays += [job_state.active, *job_state.columns.extra.values()]
    locked = [array for array in arrays if array.flags.writeable]
    for array in locked:
        array.setflags(write=False)
    usual = type(job_state)
    job_state.__class__ = SealedJobState
    try:
        yield
    finally:
        job_state.__class__ = usual
        opened = any(array.flags.writeable for array in locked)
        locked.sort(key=_is_view)  # a view can be written to only when its base can
        for array in locked:
            array.setflags(write=True)
    if opened:
        raise Broken("makes the arrays of the state writeable", fix=REMEDY, rule="pure")
    for name, owner, attributes in before:
        _compare(name, owner, attributes)
    if holdings.revision != revision:
        raise _assigned("cluster_state.allocation")


def _compare(name: str, owner: object, before: dict[str, Any]) -> None:
    after = _attributes(owner)
    if len(after) == len(before) and all(map(is_, after.values(), before.values())):
        return
    for attribute in after.keys() | before.keys():
        if attribute[0] == "_" or isinstance(getattr(type(owner), attribute, None), cached_property):
            continue
        old, new = before.get(attribute, _ABSENT), after.get(attribute, _ABSENT)
        if old is new:
            continue
        if isinstance(old, np.ndarray) or isinstance(new, np.ndarray) or old != new:
            raise _assigned(f"{name}.{attribute}")


def _assigned(name: str) -> Broken:
    return Broken(f"changes the state: {name} was assigned", fix=REMEDY, rule="pure")


def _is_view(array: Array) -> bool:
    return array.base is not None


def _attributes(owner: object) -> dict[str, Any]:
    slots = getattr(type(owner), "__slots__", None)
    return dict(vars(owner)) if slots is None else {name: getattr(owner, name, _ABSENT) for name in slots}
