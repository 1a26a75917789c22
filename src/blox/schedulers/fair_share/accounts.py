"""Accounts: the tree of who may use how much. Leaves are users of an account; every one has shares.

A file has the accounts, each with its parent, its shares and those of its users:

    [accounts.physics]
    shares = 40

    [accounts.hep]
    parent = "physics"
    shares = 30
    users = {ann = 1, bob = 2}

A job's account is its tenant. One that no file names has one share beside the others below the root, and so
has every user of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from blox.errors import BloxError, suggestion
from blox.workloads.text_files import read_toml

FIX = "give a file of accounts: [accounts.NAME], then shares = 10"
_KEYS = ("parent", "shares", "users")
User = tuple[str, str]  # account and user


@dataclass(eq=False)
class Node:
    """An account, or a user of one."""

    name: str
    shares: float = 1.0
    user: User | None = None  # of a leaf
    children: list[Node] = field(default_factory=list)
    usage: float = 0.0  # of a leaf as it is set; of an account the sum of all below


class Accounts:
    """The tree; users are added when they are first seen."""

    def __init__(self, path: str = "") -> None:
        self.root = Node("root")
        self._accounts: dict[str, Node] = {}
        self._users: dict[User, Node] = {}
        if path:
            self._read(path)

    @property
    def users(self) -> dict[User, Node]:
        return self._users

    def add(self, user: User) -> None:
        """A user of an account, if it is not there yet."""
        if user in self._users:
            return
        account = self._accounts.get(user[0])
        if account is None:
            account = self._accounts[user[0]] = Node(user[0])
            self.root.children.append(account)
        self._put(account, user, 1.0)

    def set_usage(self, usage: dict[User, float]) -> None:
        """What each user has used, by any measure; sums go up to the root."""
        for user, node in self._users.items():
            node.usage = usage.get(user, 0.0)
        _sum(self.root)

    def _put(self, account: Node, user: User, shares: float) -> None:
        node = self._users[user] = Node(user[1], shares, user)
        account.children.append(node)

    def _read(self, path: str) -> None:
        table = read_toml(path, fix=FIX).get("accounts")
        if not isinstance(table, dict) or not table:
            raise BloxError("no accounts", where=path, fix=FIX)
        for name, given in table.items():
            where = f"{path}, [accounts.{name}]"
            if not isinstance(given, dict):
                raise BloxError(f"{given!r} is no account", where=where, fix=FIX)
            for key in given:
                if key not in _KEYS:
                    raise BloxError(f"no setting is called {key!r}", where=where, fix=suggestion(key, _KEYS))
            self._accounts[name] = Node(name, _shares(given.get("shares", 1), where))
            users = given.get("users", {})
            if not isinstance(users, dict):
                raise BloxError(f"users is {users!r}", where=where, fix="write users = {ann = 1, bob = 2}")
            for user, shares in users.items():
                self._put(self._accounts[name], (name, user), _shares(shares, f"{where}, user {user}"))
        for name, given in table.items():
            self._parent(name, given.get("parent", ""), path).children.append(self._accounts[name])
        self._check_rooted(path)

    def _parent(self, name: str, parent: Any, path: str) -> Node:
        if not parent:
            return self.root
        if parent not in self._accounts:
            where = f"{path}, [accounts.{name}]"
            raise BloxError(
                f"no account is called {parent!r}", where=where, fix=suggestion(str(parent), self._accounts)
            )
        return self._accounts[parent]

    def _check_rooted(self, path: str) -> None:
        """Refuses accounts that are their own ancestors."""
        seen, waiting = 0, [self.root]
        while waiting:
            node = waiting.pop()
            seen += node.user is None
            waiting += node.children
        if seen != len(self._accounts) + 1:
            raise BloxError("accounts are parents of one another", where=path, fix="let parents lead to none")


def _shares(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise BloxError(f"shares is {value!r}", where=where, fix="shares must be a number, 0 or more")
    return float(value)


def _sum(node: Node) -> float:
    if node.user is None:
        node.usage = sum(_sum(child) for child in node.children)
    return node.usage
