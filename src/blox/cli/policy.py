"""`blox policy`: which policies rule the cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from blox.cli.cluster_tables import AsJson, Directory, client, say_json
from blox.cli.terminal import say


def policy(
    scheduler: Annotated[str, typer.Option(help="Scheduling policy, also ./mine.py:Mine.")] = "",
    admission: Annotated[str, typer.Option(help="Admission policy.")] = "",
    placement: Annotated[str, typer.Option(help="Placement policy.")] = "",
    termination: Annotated[str, typer.Option(help="Termination policy: completed, loss:target=0.35.")] = "",
    cluster: Directory = None,
    as_json: AsJson = False,
) -> None:
    """Show the policies that rule now; or change some, while jobs run, from the next round on.

    A job restarts only if the new policies put it elsewhere.
    """
    asked = client(cluster)
    if scheduler or admission or placement or termination:
        asked.set_policies(
            admission=admission, scheduler=scheduler, placement=placement, termination=termination
        )
    view = asked.policies()
    if as_json:
        say_json(view)
        return
    say(f"scheduler {view.scheduler}, admission {view.admission}, placement {view.placement}")
    if view.termination != "completed":
        say(f"jobs end by {view.termination}")
    say(f"a round every {view.round_s:g} s; the cluster's time is {view.now_s:.0f} s")
    if view.fault:
        say(view.fault)
