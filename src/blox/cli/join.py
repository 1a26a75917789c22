"""`blox join`: this machine becomes a node of a cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from blox.cli.cluster_tables import Directory, need_grpc
from blox.cli.terminal import say


def join(
    name: Annotated[
        str, typer.Option(help="The node's name; default: that of this machine.", show_default=False)
    ] = "",
    gpus: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="GPU slots; default: the GPUs of this machine.", show_default=False),
    ] = None,
    listen: Annotated[
        str, typer.Option(metavar="HOST[:PORT]", help="Where the others reach this machine.")
    ] = "127.0.0.1",
    cluster: Directory = None,
) -> None:
    """Make this machine a node of a cluster whose directory it shares (NFS); runs until interrupted.

    The scheduler is started by `blox up --nodes 0 --listen HOST` on one machine. When this ends, the jobs of
    the node go on elsewhere from their last checkpoints.
    """
    need_grpc()
    import re
    import socket

    from blox.cluster.shell.arenas import limit_arenas
    from blox.cluster.shell.gpus import found
    from blox.cluster.shell.place import Place
    from blox.cluster.shell.worker_process import WorkerProcess, run_until_told
    from blox.errors import BloxError

    place, here = Place.of(cluster), found()
    slots = gpus or here.count
    if not slots:
        raise BloxError("no GPU was found here", where="--gpus", fix="say how many slots: --gpus 4")
    settings = place.settings()
    node = name or socket.gethostname()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", node):
        raise BloxError(f"{node!r} is no name", where="--name", fix="letters, digits, dots and dashes")
    limit_arenas()
    process = WorkerProcess(
        place, node, slots, place.listening(listen), settings.timing, settings.central, here.kind
    )
    say(f"{node}: {slots} GPU slots ({here.kind}) at {process.address}, of the cluster in {place.root}")
    run_until_told(process)
