"""`blox nodes`: the nodes of the cluster."""

from __future__ import annotations

from blox.cli.cluster_tables import AsJson, Directory, client, say_json, say_table


def nodes(cluster: Directory = None, as_json: AsJson = False) -> None:
    """List the nodes: GPU slots, how many are used, by which jobs, and whether each answers."""
    views = client(cluster).nodes()
    if as_json:
        say_json(views)
        return
    rows = [
        (
            view.node,
            f"{view.used}/{view.gpus}",
            view.state if view.alive else "no answer",
            ",".join(map(str, view.jobs)) or "-",
            view.address,
        )
        for view in views
    ]
    say_table(("node", "used", "state", "jobs", "address"), rows, none="no node has joined")
