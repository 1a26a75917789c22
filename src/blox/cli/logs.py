"""`blox logs`: what a job has printed."""

from __future__ import annotations

from typing import Annotated

import typer

from blox.cli.cluster_tables import AsJson, Directory, client, say_json
from blox.cli.terminal import say


def logs(
    job: Annotated[int, typer.Argument(metavar="ID")],
    rank: Annotated[int, typer.Option(min=0, help="Of which rank.")] = 0,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on until the job has ended.")] = False,
    cluster: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Print what a rank of a job has printed, of all its starts (the last megabytes of it)."""
    from blox.cluster.shell.place import Place
    from blox.errors import BloxError

    asked = client(cluster)
    view, file = asked.job(job), Place.of(cluster).job(job) / f"rank-{rank}.log"
    if not follow and not file.exists():
        what = f"rank {rank} of job {job} has printed nothing"
        if view.end_s is None:
            what, fix = f"{what}: the job is {view.state}", "wait until it has started"
        else:
            what, fix = f"{what}, and the job has ended: {view.state}", f"`blox jobs {job}` tells its life"
        fix += "; logs are kept on the machine of the node"
        raise BloxError(what, where=str(file), fix=fix)
    for line in asked.log(job, rank, follow=follow):
        if as_json:
            say_json({"job": job, "rank": rank, "line": line}, lines=True)
        else:
            say(line)
