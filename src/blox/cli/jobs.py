"""`blox jobs`: the jobs of the cluster, or the life of one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli.cluster_tables import AsJson, Directory, client, say_json, say_table, seconds
from blox.cli.terminal import say

if TYPE_CHECKING:
    from blox.cluster.central.views import JobView


def jobs(
    job: Annotated[
        int | None, typer.Argument(metavar="ID", help="One job, with its life.", show_default=False)
    ] = None,
    active: Annotated[bool, typer.Option("--active", help="Only jobs that have not ended.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Again every two seconds, until interrupted.")
    ] = False,
    cluster: Directory = None,
    as_json: AsJson = False,
) -> None:
    """List the jobs of the cluster: state, nodes, iterations; or what happened to one of them, and when."""
    asked = client(cluster)
    while True:
        if job is not None:
            view = asked.job(job)
            say_json(view) if as_json else _say_one(view)
        else:
            views = asked.jobs(ended=not active)
            say_json(views) if as_json else _say_all(views, asked.policies().now_s)
        if not watch:
            return
        time.sleep(2.0)
        say("")


def _say_all(views: list[JobView], now_s: float) -> None:
    rows = [
        (
            view.job,
            view.name or " ".join(view.command)[:30],
            view.gpus,
            view.state[:40],
            ",".join(view.nodes) or "-",
            seconds((now_s if view.end_s is None else view.end_s) - view.submit_s),
            view.iteration if view.iteration >= 0 else "-",
        )
        for view in views
    ]
    say_table(("job", "name", "gpus", "state", "nodes", "age", "iteration"), rows, none="no jobs")


def _say_one(view: JobView) -> None:
    say(f"job {view.job}: {view.state}; {view.gpus} GPUs; {' '.join(view.command)}")
    if view.place is not None:
        say(f"place in line, by submission: {view.place}")
    say(f"starts {view.epoch}, failures {view.failures}, checkpoint at iteration {view.checkpoint}")
    for entry in view.life:
        say(f"  {entry.at_s:10.1f} s  {entry.what}")
