"""The fair-share factor of every user, 0 to 1, in the two ways that Slurm documents.

`classic` (PriorityFlags=NO_FAIR_TREE): by how far a user, and the accounts above, are over their shares.
`fair_tree` (the default since Slurm 19.05): users are ranked, all of an account before all of a sibling that
is better served.
"""

from __future__ import annotations

import math

from blox.schedulers.fair_share.accounts import Accounts, Node, User

_EQUAL = 1e-9  # relative: what differs by less is a tie


def classic(accounts: Accounts, damping: float = 1.0) -> dict[User, float]:
    """F = 2^(-UE / S / d): S the normalised shares of a user, UE its effective usage, d the damping factor.

    Usage is normalised by the usage of all, unless that is nothing: then every factor is 1.
    """
    total = accounts.root.usage
    if not total > 0:
        return dict.fromkeys(accounts.users, 1.0)
    return classic_of(accounts.root, total, damping)


def classic_of(root: Node, total: float, damping: float = 1.0) -> dict[User, float]:
    """The same with usage as parts of any `total`."""
    found: dict[User, float] = {}
    first = True
    level = [(root, 1.0, 0.0)]  # account, its normalised shares, its effective usage
    while level:
        below = []
        for account, share, effective in level:
            shares = sum(child.shares for child in account.children)
            for child in account.children:
                part = child.shares / shares if shares > 0 else 0.0
                used = child.usage / total
                own = used if first else used + (effective - used) * part
                if child.user is None:
                    below.append((child, share * part, own))
                elif share * part > 0:
                    found[child.user] = 2.0 ** (-own / (share * part) / damping)
                else:
                    found[child.user] = 0.0
        level, first = below, False
    return found


def fair_tree(accounts: Accounts) -> dict[User, float]:
    """The rank of every user, counted from the last, over their number; users who tie have the same."""
    found: dict[User, float] = {}
    _descend(accounts.root.children, _Rank(len(accounts.users)), found, tied=False)
    return found


def level_fs(node: Node, siblings: list[Node]) -> float:
    """LF = S / U: shares over usage, each normalised to the siblings'; inf where nothing was used."""
    shares, usage = sum(each.shares for each in siblings), sum(each.usage for each in siblings)
    share = node.shares / shares if shares > 0 else 0.0
    used = node.usage / usage if usage > 0 else 0.0
    return math.inf if not used else share / used


class _Rank:
    def __init__(self, users: int) -> None:
        self.users = self.left = users
        self.rank = users


def _descend(siblings: list[Node], at: _Rank, found: dict[User, float], tied: bool) -> None:
    """Ranks the users below: the highest level fair share first, users before accounts where they tie.

    Accounts that tie are descended into together, as if they were one. `tied`: the first user below has the
    rank of the one before.
    """
    graded = [(level_fs(node, siblings), node) for node in siblings]
    graded.sort(key=lambda each: (-each[0], each[1].user is None))
    for alike in _ties(graded):
        users = [node for node in alike if node.user is not None]
        for node in users:
            if not tied:
                at.rank = at.left
            assert node.user is not None
            found[node.user] = at.rank / at.users
            at.left -= 1
            tied = True
        children = [child for node in alike if node.user is None for child in node.children]
        if children:
            _descend(children, at, found, tied)
        tied = False


def _ties(graded: list[tuple[float, Node]]) -> list[list[Node]]:
    """Nodes of equal level fair share together, in order."""
    groups: list[list[Node]] = []
    last = math.nan
    for grade, node in graded:
        equal = grade == last or (math.isfinite(grade) and math.isclose(grade, last, rel_tol=_EQUAL))
        if equal:
            groups[-1].append(node)
        else:
            groups.append([node])
        last = grade
    return groups
