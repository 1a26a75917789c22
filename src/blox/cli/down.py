"""`blox down`: ends a cluster on this machine."""

from __future__ import annotations

from blox.cli.cluster_tables import Directory, need_grpc
from blox.cli.terminal import say


def down(cluster: Directory = None) -> None:
    """End the cluster and every process of its jobs; unfinished jobs go on at the next `blox up`."""
    need_grpc()
    from blox.cluster.shell import local
    from blox.cluster.shell.place import Place

    place = Place.of(cluster)
    say("down" if local.stop(place) else f"no cluster is up in {place.root}")
