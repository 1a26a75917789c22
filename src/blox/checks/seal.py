"""seal(): makes the two states read-only while a policy looks at them, at no cost that grows with the jobs.

In place of each array stands a view of it that refuses to be written to and to be opened (`setflags`), so
that the fault is raised on the very line that commits it; what was assigned anew is found by comparison
afterwards. What accessors such as `job_state.gpus` return is read-only too: where it is a copy, a policy that
writes to it means to change the state. Names that begin with an underscore are left alone: they belong to the
states themselves, as does what policies remember. Where code goes round all this (`array.base`, ctypes),
`intact.py` finds what it has changed at the end of the run.
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
    def expected_s(self) -> Array:
        return read_only(super().expected_s)

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


class SealedClusterState(ClusterState):
    """A ClusterState whose own arrays cannot be written to; what is worked out anew (`node_free`) can."""

    @property
    def running(self) -> Array:
        return read_only(super().running)

    @property
    def owner(self) -> Array:
        return read_only(super().owner)

    def free_ids(self) -> Array:
        return read_only(super().free_ids())

    def fork(self) -> ClusterState:
        """A fork is the policy's own, and open."""
        twin = super().fork()
        twin.__class__ = ClusterState
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
    extra = job_state.columns.extra
    arrays = [job_state.active, *extra.values(), *(array for *_, array in _public_arrays(before))]
    locked = [array for array in arrays if array.flags.writeable]
    for array in locked:
        array.setflags(write=False)
    views = [(owner, name, array.view()) for owner, name, array in _public_arrays(before)]
    for owner, name, view in views:
        setattr(owner, name, view)
    job_state.columns.extra = {name: array.view() for name, array in extra.items()}
    usual = type(job_state), type(cluster_state)
    job_state.__class__, cluster_state.__class__ = SealedJobState, SealedClusterState
    try:
        yield
    finally:
        job_state.__class__, cluster_state.__class__ = usual
        job_state.columns.extra = extra
        for (owner, name, view), (*_, array) in zip(views, _public_arrays(before)):
            if getattr(owner, name, None) is view:  # assigned anew otherwise: told below
                setattr(owner, name, array)
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


def _public_arrays(owners: list[tuple[str, Any, dict[str, Any]]]) -> list[tuple[Any, str, Array]]:
    """(owner, attribute, array) of all that do not begin with an underscore."""
    return [
        (owner, attribute, value)
        for _, owner, attributes in owners
        for attribute, value in attributes.items()
        if isinstance(value, np.ndarray) and attribute[0] != "_"
    ]


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
