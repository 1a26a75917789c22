"""`blox nodes`: the nodes of the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blox.cli.cluster_tables import AsJson, Directory, Watch, client, say_json, say_table, watched

if TYPE_CHECKING:
    from blox.cluster.protocol.queries import NodeView


def nodes(watch: Watch = False, cluster: Directory = None, as_json: AsJson = False) -> None:
    """List the nodes: GPU slots, how many are used, by which jobs, and whether each answers."""
    asked = client(cluster)
    watched(lambda: _say(asked.nodes(), as_json, watch), watch, as_json)


def _say(views: list[NodeView], as_json: bool, lines: bool) -> None:
    from blox.cluster.names import by_number

    if as_json:
        say_json(views, lines=lines)
        return
    rows = [
        (
            view.node,
            f"{view.used}/{view.gpus}",
            view.state if view.alive else "no answer",
            ",".join(map(str, view.jobs)) or "-",
            view.address,
        )
        for view in sorted(views, key=lambda view: by_number(view.node))
    ]
    say_table(("node", "used", "state", "jobs", "address"), rows, none="no node has joined")
