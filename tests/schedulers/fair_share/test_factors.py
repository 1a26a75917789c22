"""Fair share to the digits of Slurm's documentation."""

import pytest

from blox.errors import BloxError
from blox.schedulers.fair_share.accounts import Accounts, Node
from blox.schedulers.fair_share.factors import classic, classic_of, fair_tree, level_fs

# The tree of "Classic Fairshare Algorithm": 40 and 60 shares of the machine, divided again, five users.
EXAMPLE = """
[accounts.A]
shares = 40
[accounts.B]
parent = "A"
shares = 30
users = {user1 = 1}
[accounts.C]
parent = "A"
shares = 10
users = {user2 = 1, user3 = 1}
[accounts.D]
shares = 60
[accounts.E]
parent = "D"
shares = 25
users = {user4 = 1}
[accounts.F]
parent = "D"
shares = 35
users = {user5 = 1}
"""
USED = {("B", "user1"): 0.2, ("C", "user2"): 0.25, ("E", "user4"): 0.25}


def tree(tmp_path, text=EXAMPLE, used=USED):
    (tmp_path / "shares.toml").write_text(text)
    accounts = Accounts(str(tmp_path / "shares.toml"))
    accounts.set_usage(used)
    return accounts


def test_the_worked_example_of_classic_fair_share(tmp_path):
    """Usage there is given in parts of the machine, and digits after the sixth are cut."""
    factors = classic_of(tree(tmp_path).root, total=1.0)
    printed = {"user1": 0.408479, "user2": 0.022097, "user3": 0.125, "user4": 0.5, "user5": 0.749154}
    assert {user: factors[account, user] for account, user in factors} == pytest.approx(printed, abs=1e-6)


def test_usage_is_normalised_by_all_of_it(tmp_path):
    """Nothing used: everybody has 1. One user alone, with all of the shares: exactly its part, 0.5."""
    assert set(classic(tree(tmp_path, used={})).values()) == {1.0}
    alone = tree(tmp_path, "[accounts.a]\nusers = {x = 1}\n", {("a", "x"): 7.0})
    assert classic(alone) == {("a", "x"): 0.5}
    assert classic(alone, damping=2.0) == {("a", "x"): 2**-0.5}


def test_fair_tree_on_the_same_tree(tmp_path):
    """By hand, from LF = S / U. Below the root: D 0.6 / (0.25 / 0.7) = 1.68, A 0.4 / (0.45 / 0.7) = 0.62.

    Below D: F inf, E 0.417; below A: B 0.75 / (0.2 / 0.45) = 1.69, C 0.45; in C user3 has used nothing. So
    the ranks are user5, user4, user1, user3, user2, of five.
    """
    accounts = tree(tmp_path)
    ranked = {user: rank for (_, user), rank in fair_tree(accounts).items()}
    assert ranked == {"user5": 1.0, "user4": 0.8, "user1": 0.6, "user3": 0.4, "user2": 0.2}
    below = accounts.root.children
    assert [level_fs(node, below) for node in below] == pytest.approx([0.4 * 0.7 / 0.45, 0.6 * 0.7 / 0.25])


def test_what_sshare_of_a_cluster_printed(tmp_path):
    """A group of a public cluster with Fair Tree, 300 users in all, as `sshare -l` showed it.

    Eleven of the group have used nothing: all have 0.290000, the 87th place from the end. The three who have
    used 344, 351 and 681 of 1,376 follow with the 76th to 74th: ties use up the places that they share. Level
    FS is (1 / 23 shares) / part of the usage. Users above and below the group are filled up by hand.
    """
    idle = ", ".join([f"idle{at} = 1" for at in range(10)] + ["wide = 10"])
    text = (
        f"[accounts.above]\nusers = {{{', '.join(f'a{at} = 1' for at in range(213))}}}\n"
        f"[accounts.group]\nusers = {{{idle}, ann = 1, bob = 1, eve = 1}}\n"
        f"[accounts.below]\nusers = {{{', '.join(f'b{at} = 1' for at in range(73))}}}\n"
    )
    used = {("group", "ann"): 344.0, ("group", "bob"): 351.0, ("group", "eve"): 681.0}
    accounts = tree(tmp_path, text, {**used, ("below", "b0"): 1e9})
    ranked = fair_tree(accounts)
    assert ranked["group", "idle0"] == ranked["group", "wide"] == pytest.approx(0.290000, abs=5e-7)
    printed = {
        "ann": (0.253333, 0.173913),
        "bob": (0.250000, 0.170455),
        "eve": (0.246667, 0.087848),
    }
    group = accounts.root.children[1]
    for name, (rank, level) in printed.items():
        assert ranked["group", name] == pytest.approx(rank, abs=5e-7)
        node = accounts.users["group", name]
        assert level_fs(node, group.children) == pytest.approx(level, abs=2e-5), "raw usage is printed cut"


def test_all_of_a_better_served_account_come_last(tmp_path):
    """The promise of Fair Tree: A above B, so every user of A above every user of B."""
    text = "[accounts.a]\nusers = {x = 1, y = 1}\n[accounts.b]\nusers = {v = 1, w = 1}\n"
    ranked = fair_tree(tree(tmp_path, text, {("a", "x"): 5.0, ("a", "y"): 1.0, ("b", "v"): 7.0}))
    assert ranked == {("a", "y"): 1.0, ("a", "x"): 0.75, ("b", "w"): 0.5, ("b", "v"): 0.25}


def test_ties_of_users_of_accounts_and_of_a_user_with_an_account(tmp_path):
    """As documented: sibling users who tie share a rank; accounts that tie are descended into as one."""
    text = "[accounts.a]\nusers = {x = 1, y = 1}\n[accounts.b]\nusers = {v = 1}\n"
    equal = fair_tree(tree(tmp_path, text, {}))
    assert set(equal.values()) == {1.0}, "nobody has used anything"
    merged = fair_tree(tree(tmp_path, text, {("a", "x"): 2.0, ("a", "y"): 1.0, ("b", "v"): 3.0}))
    assert merged == {("a", "y"): 1.0, ("a", "x"): pytest.approx(2 / 3), ("b", "v"): pytest.approx(1 / 3)}
    accounts = tree(tmp_path, "[accounts.a]\nusers = {x = 1, y = 1}\n", {("a", "x"): 1.0})
    accounts.root.children.append(Node("z", 1.0, ("", "z"), usage=1.0))
    accounts.users["", "z"] = accounts.root.children[-1]
    beside = fair_tree(accounts)
    assert beside["", "z"] == beside["a", "y"] == 1.0, "a user who ties with an account has its highest rank"
    assert beside["a", "x"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no accounts"),
        ("accounts = 3", "no accounts"),
        ("[accounts.a]\nshare = 3", "no setting is called 'share'"),
        ("[accounts.a]\nshares = -3", "shares is -3"),
        ("[accounts.a]\nparent = 'b'", "no account is called 'b'"),
        ("[accounts.a]\nparent = 'b'\n[accounts.b]\nparent = 'a'", "parents of one another"),
        ("[accounts.a]\nusers = 3", "users is 3"),
        ("[accounts.a", "is not TOML"),
    ],
)
def test_a_file_that_is_none_is_told(text, words, tmp_path):
    with pytest.raises(BloxError, match=words):
        tree(tmp_path, text)
