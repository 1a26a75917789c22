"""The tree of queues that a file describes, and how much each of them holds.

    [queues.research]
    guaranteed = 0.75           # of its parent: of the cluster, at the top
    most = 1.0                  # as much as it may have by borrowing

    [queues.vision]
    parent = "research"
    guaranteed = 0.5
    tenants = ["vision", "video"]

    [queues.default]            # jobs of no other queue
    guaranteed = 0.25
    most = 0.5

Jobs stand in queues without children, by their tenant, or else by their user.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from blox.errors import BloxError, suggestion
from blox.workloads.text_files import read_toml

DEFAULT = "default"
FIX = "give a file of queues: [queues.NAME], then guaranteed = 0.5 and tenants = [...]"
_KEYS = ("parent", "guaranteed", "most", "tenants", "users", "reclaim", "lends")


@dataclass(eq=False)
class Queue:
    """A queue; `guaranteed` and `most` are parts of the whole cluster, multiplied down the tree.

    `reclaim`: it takes back what it is guaranteed from queues that have borrowed it. `lends`: others may use
    what it does not.
    """

    name: str
    guaranteed: float
    most: float
    parent: Queue | None = None
    reclaim: bool = True
    lends: bool = True
    children: list[Queue] = field(default_factory=list)
    tenants: tuple[str, ...] = ()
    users: tuple[str, ...] = ()

    @property
    def above(self) -> list[Queue]:
        """The queue itself and all that it stands in."""
        found, at = [self], self.parent
        while at is not None:
            found.append(at)
            at = at.parent
        return found


def read_queues(path: str) -> dict[str, Queue]:
    """The queues of a file by name; one called `default` is there in any case. Errors name the queue."""
    table = read_toml(path, fix=FIX).get("queues")
    if not isinstance(table, dict) or not table:
        raise BloxError("no queues", where=path, fix=FIX)
    found: dict[str, Queue] = {}
    for name in _parents_first(table, path):
        given, where = table[name], f"{path}, [queues.{name}]"
        parent = found[given["parent"]] if given.get("parent") else None
        whole = (1.0, 1.0) if parent is None else (parent.guaranteed, parent.most)
        guaranteed = whole[0] * _part(given, "guaranteed", 0.0, where)
        most = whole[1] * _part(given, "most", 1.0, where)
        if guaranteed > most + 1e-9:
            fix = "a queue cannot be guaranteed more than it may have"
            raise BloxError(
                f"guaranteed is {guaranteed:g} and most {most:g} of the cluster", where=where, fix=fix
            )
        queue = found[name] = Queue(
            name, guaranteed, most, parent, _flag(given, "reclaim", where), _flag(given, "lends", where),
            tenants=_names(given, "tenants", where), users=_names(given, "users", where),
        )  # fmt: skip
        if parent is not None:
            parent.children.append(queue)
    _check(found, path)
    found.setdefault(DEFAULT, Queue(DEFAULT, 0.0, 1.0))
    return found


def _check(found: dict[str, Queue], path: str) -> None:
    """Refuses guarantees that add up to more than there is, and jobs that belong to two queues."""
    tops = [queue for queue in found.values() if queue.parent is None]
    for parent, children in (("", tops), *((queue.name, queue.children) for queue in found.values())):
        whole = found[parent].guaranteed if parent else 1.0
        total = sum(child.guaranteed for child in children)
        if children and total > whole + 1e-9:
            of = f"of {parent!r}" if parent else "of the cluster"
            raise BloxError(
                f"queues {of} are guaranteed {total:g} of it together",
                where=path,
                fix="let the shares of queues that stand beside one another add up to 1 at most",
            )
    for kind in ("tenants", "users"):
        seen: dict[str, str] = {}
        for queue in found.values():
            for name in getattr(queue, kind):
                if name in seen:
                    raise BloxError(
                        f"{name!r} is in the queues {seen[name]!r} and {queue.name!r}",
                        where=path,
                        fix="name each tenant and user once",
                    )
                seen[name] = queue.name
                if queue.children:
                    fix = "name them in one of the queues below it"
                    raise BloxError(f"{queue.name!r} has queues and {kind}", where=path, fix=fix)


def _parents_first(table: dict[str, Any], path: str) -> list[str]:
    order: list[str] = []
    waiting = list(table)
    while waiting:
        ready = [name for name in waiting if _parent_of(table, name, path) in ("", *order)]
        if not ready:
            raise BloxError("queues are parents of one another", where=path, fix="let parents lead to none")
        order += ready
        waiting = [name for name in waiting if name not in ready]
    return order


def _parent_of(table: dict[str, Any], name: str, path: str) -> str:
    given, where = table[name], f"{path}, [queues.{name}]"
    if not isinstance(given, dict):
        raise BloxError(f"{given!r} is no queue", where=where, fix=FIX)
    for key in given:
        if key not in _KEYS:
            raise BloxError(f"no setting is called {key!r}", where=where, fix=suggestion(key, _KEYS))
    parent = given.get("parent", "")
    if parent and parent not in table:
        raise BloxError(f"no queue is called {parent!r}", where=where, fix=suggestion(str(parent), table))
    return str(parent)


def _part(given: dict[str, Any], key: str, default: float, where: str) -> float:
    value = given.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BloxError(f"{key} is {value!r}", where=where, fix=f"{key} is a part of its parent: 0 to 1")
    return float(value)


def _flag(given: dict[str, Any], key: str, where: str) -> bool:
    value = given.get(key, True)
    if not isinstance(value, bool):
        raise BloxError(f"{key} is {value!r}", where=where, fix=f"{key} must be true or false")
    return value


def _names(given: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = given.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise BloxError(f"{key} is {value!r}", where=where, fix=f'write {key} = ["vision", "speech"]')
    return tuple(value)
