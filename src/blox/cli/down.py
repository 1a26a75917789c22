"""`blox down`: ends a cluster on this machine."""

from __future__ import annotations

from blox.cli.cluster_tables import AsJson, Directory, need_grpc, say_json
from blox.cli.terminal import say


def down(cluster: Directory = None, as_json: AsJson = False) -> None:
    """End the cluster and every process of its jobs; unfinished jobs go on at the next `blox up`."""
    need_grpc()
    from blox.cluster.shell import local
    from blox.cluster.shell.place import Place

    place = Place.of(cluster)
    stopped = local.stop(place)
    if as_json:
        say_json({"stopped": stopped, "directory": str(place.root)})
    else:
        say("down" if stopped else f"no cluster is up in {place.root}")
