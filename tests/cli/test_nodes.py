"""`blox nodes`: the order of its rows."""

from blox.cluster.protocol.queries import NodeView


def test_nodes_are_listed_by_their_numbers(command, monkeypatch):
    """They join in any order; what is no digit to int() is a letter here."""
    names = ["node-10", "node-2", "node-\N{SUPERSCRIPT TWO}", "a", "3"]
    views = [NodeView(name, 4, 0, "gpu", "up", True, "127.0.0.1:1", ()) for name in names]
    monkeypatch.setattr("blox.cluster.api.Client.nodes", lambda self: views)
    shown = [line.split()[0] for line in command("nodes").out.splitlines()[1:]]
    assert shown == ["3", "a", "node-2", "node-10", "node-\N{SUPERSCRIPT TWO}"]
