"""`blox jobs`: the jobs of the cluster, or the life of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from blox.cli.cluster_tables import (
    AsJson,
    Directory,
    Watch,
    client,
    clock,
    cut,
    say_json,
    say_table,
    seconds,
    watched,
)
from blox.cli.terminal import say

if TYPE_CHECKING:
    from blox.cluster.api import Client
    from blox.cluster.protocol.queries import Guess, JobView

_ENDED = 20  # ended jobs that a list shows
_WIDEST_COMMAND, _WIDEST_STATE = 30, 40  # columns of the terminal


def jobs(
    job: Annotated[
        int | None, typer.Argument(metavar="ID", help="One job, with its life.", show_default=False)
    ] = None,
    active: Annotated[bool, typer.Option("--active", help="Only jobs that have not ended.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help=f"Every job that has ended, not the last {_ENDED} alone.")
    ] = False,
    when: Annotated[
        bool, typer.Option("--when", help="With ID: guess when it starts, by running the loop ahead.")
    ] = False,
    draws: Annotated[
        int, typer.Option(min=1, max=1000, help="How often --when draws unknown durations.")
    ] = 20,
    watch: Watch = False,
    cluster: Directory = None,
    as_json: AsJson = False,
) -> None:
    """List the jobs of the cluster: state, nodes, iterations; or what happened to one of them, and when.

    Of one that waits, ID shows why, and its place in line.
    """
    from blox.errors import BloxError

    if when and job is None:
        raise BloxError("--when without a job", where="blox jobs", fix="blox jobs ID --when")
    asked = client(cluster)

    def show() -> None:
        if job is None:
            _say_all(asked, active, everything, as_json, watch)
        elif when:
            guess = asked.guess_start(job, draws)
            if guess.draws and guess.middle_s is None and not as_json:
                _say_never(asked.job(job))
            else:
                _say_guess(job, guess, as_json, watch)
        elif as_json:
            say_json(asked.job(job), lines=watch)
        else:
            _say_one(asked.job(job))

    watched(show, watch, as_json)


def _say_all(asked: Client, active: bool, everything: bool, as_json: bool, lines: bool) -> None:
    views = asked.jobs(ended=not active)
    if as_json:
        say_json(views, lines=lines)
        return
    ended = [view.job for view in views if view.end_s is not None]
    hidden = set() if everything else set(ended[:-_ENDED])
    now_s = asked.policies().now_s
    rows = [
        (
            view.job,
            view.name or cut(" ".join(view.command), _WIDEST_COMMAND),
            view.user,
            view.gpus,
            cut(view.state, _WIDEST_STATE),
            ",".join(view.nodes) or "-",
            seconds((now_s if view.end_s is None else view.end_s) - view.submit_s),
            view.iteration if view.iteration >= 0 else "-",
        )
        for view in views
        if view.job not in hidden
    ]
    say_table(("job", "name", "user", "gpus", "state", "nodes", "age", "iteration"), rows, none="no jobs")
    if hidden:
        say(f"{len(hidden):,} more have ended: --all")


def _say_one(view: JobView) -> None:
    gpus = f"{view.gpus} GPU{'s' if view.gpus > 1 else ''}"
    state = view.state.partition("\n")[0]
    say(f"job {view.job}: {state}; {gpus}; {' '.join(view.command)}")
    if view.queueing is not None:
        place = f"place {view.queueing.place} in line: " if view.queueing.place else ""
        say(f"{place}{view.queueing.why}")
    if view.expected_s is None:
        say("expected run time: unknown")
    else:
        say(f"expected run time: {seconds(view.expected_s)} (by {view.expected_from})")
    saved = f", checkpoint at iteration {view.checkpoint}" if view.checkpoint >= 0 else ""
    say(f"starts {view.starts}, failures {view.failures}{saved}")
    if view.metrics:
        say("metrics: " + ", ".join(f"{name} {value:.6g}" for name, value in sorted(view.metrics.items())))
    for entry in view.life:
        say(f"  {clock(view.origin_s + entry.at_s)}  " + entry.what.replace("\n", f"\n{' ' * 25}"))


def _say_guess(job: int, guess: Guess, as_json: bool, lines: bool) -> None:
    if as_json:
        say_json(guess, lines=lines)
    elif guess.middle_s == 0.0 and not guess.draws:
        say(f"job {job} has its GPUs")
    elif not guess.draws:
        say(f"job {job}: nothing was found out in the time that a look ahead may take; try --draws 1")
    else:
        known = guess.low_s == guess.high_s
        spread = f" ({_in(guess.low_s)} to {_in(guess.high_s)} in 80 % of {guess.draws} draws)"
        say(f"job {job} would start {_in(guess.middle_s)}{'' if known else spread}")
        say("by running the loop ahead: no job comes, none fails, durations are what is believed of them")


def _say_never(view: JobView) -> None:
    why = f": {view.queueing.why}" if view.queueing is not None else ""
    say(f"job {view.job} would never start{why}")
    say("by running the loop ahead: no job and no node comes, and no policy changes")


def _in(wait_s: float | None) -> str:
    return "never" if wait_s is None else f"in {seconds(wait_s)}" if wait_s >= 0.5 else "at once"
