"""`blox explain DIR --at TIME`: what a round decided about every job, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blox.errors import BloxError

if TYPE_CHECKING:
    from rich.console import Console

    from blox.explain import Round, Standing
    from blox.results.result import Result
    from blox.workloads.table import Array

_DONE = {
    "keep": "goes on", "launch": "starts", "move": "moves", "adjust": "goes on, adjusted",
    "suspend": "is suspended", "wait": "waits", "hold": "is held",
}  # fmt: skip
_TRACED = "From decisions.parquet."
_RUN_AGAIN = "Worked out by running the experiment again up to this round (--trace-decisions keeps them all)."


def show_round(console: Console, result: Result, at: str, row: int | None, limit: int) -> None:
    """Prints the round that held at a time; with a row, that job in it alone."""
    from blox.cli.explain import clock_time
    from blox.durations import NEVER, parse_duration

    time_s = parse_duration(at, where="--at")
    if time_s == NEVER:
        raise BloxError("no round is at 'never'", where="--at", fix="give a time of the run, such as 36h")
    if _nothing_there(result, time_s):
        end = clock_time(float(result.summary["end_s"]))
        console.print(f"No job ran or waited at {at}. The run ended at {end}.", markup=False)
        return
    found, source = _round_at(result, time_s)
    console.print(f"{result.label}, {_in_words(found, time_s)} {source}\n", markup=False)
    shown = found.standings
    if row is not None:
        shown = [each for each in shown if each.row == row]
        if not shown:
            console.print(f"Job {result.jobs['job_id'][row]} had not come, or had finished.", markup=False)
            return
    _print(console, found, shown, limit)


def _in_words(found: Round, time_s: float) -> str:
    """When the round was, and how many jobs ran and waited then."""
    from blox.cli.explain import clock_time

    when = f"the round at {clock_time(found.time_s)}"
    if found.time_s < time_s:
        when += f", the last one executed by {clock_time(time_s)}"
    waiting = [each for each in found.standings if not each.held_gpus]
    held = sum(each.action == "hold" for each in waiting)
    outside = f" ({held:,} held by admission control)" if held else ""
    jobs = f"Jobs running: {len(found.standings) - len(waiting):,}, waiting: {len(waiting):,}{outside}"
    return f"{when}. {jobs}; GPUs free: {found.free_gpus:,}."


def _print(console: Console, found: Round, standings: list[Standing], limit: int) -> None:
    from rich.text import Text

    from blox.cli.explain import STYLES, simple_table

    keys = [name.replace("_", " ") for name in found.key_names]
    left = ("job", "decided", "blocked by")
    table = simple_table("place", "job", "GPUs", *keys, "decided", "blocked by", left=left)
    last = -1
    for position in _chosen(standings, limit):
        each = standings[position]
        if position > last + 1:
            table.add_row("...", Text(f"{position - last - 1:,} more", style="dim"))
        last = position
        done = f"{_DONE[each.action]}{', next in line' if each.row == found.next_in_line else ''}"
        table.add_row(
            f"{each.place:,}" if each.place else "–",
            Text(str(found.job_id[each.row])),
            f"{each.held_gpus or each.gpus:,}",
            *(f"{key:.6g}" if key == key else "" for key in each.keys),
            Text(done, style=STYLES["running"] if each.held_gpus else STYLES[each.cause]),
            Text(found.blocked_by(each)),
        )
    console.print(table)
    if last < len(standings) - 1:
        console.print(f"... and {len(standings) - 1 - last:,} more: --limit {len(standings)}")


def _chosen(standings: list[Standing], limit: int) -> list[int]:
    """The positions to show, at most `limit`: the first that run, and the first that wait."""
    waiting = [position for position, each in enumerate(standings) if not each.held_gpus]
    running = [position for position, each in enumerate(standings) if each.held_gpus]
    shown = waiting[: max(limit - limit // 2, limit - len(running))]
    return sorted([*shown, *running[: limit - len(shown)]])


def _nothing_there(result: Result, time_s: float) -> bool:
    """Whether no job had come, or none was left, in the last round at or before a time."""
    rounds = result.rounds
    last = int(rounds["time_s"].searchsorted(time_s, side="right")) - 1
    return last < 0 or not any(rounds[name][last] for name in ("held", "queued", "running"))


def _round_at(result: Result, time_s: float) -> tuple[Round, str]:
    """The round, and where it is from."""
    from blox.explain import Round

    if result.decisions is not None:
        return Round(result.decisions.at(time_s), result.jobs["job_id"]), _TRACED
    found = Round(_run_again(result, time_s), result.jobs["job_id"])
    if not found.agrees_with(result.stints, result.jobs["state"]):
        raise BloxError(
            f"run again, the experiment decides otherwise than these results say by {time_s:g} s",
            where="--at",
            fix="the program, a policy or an input has changed since: run it anew, with --trace-decisions",
        )
    return found, _RUN_AGAIN


def _run_again(result: Result, time_s: float) -> dict[str, Array]:
    """What the round at a time decides, from the settings of the results."""
    from blox.cli.experiments import check_files
    from blox.experiment.parts import real_speedup
    from blox.experiment.settings import Experiment

    experiment = Experiment.from_table(result.experiment, where="experiment.toml")
    prepared = experiment.prepare()
    check_files(result.experiment, experiment, set(), where="experiment.toml")
    if real_speedup(prepared.backend_part) is not None:
        raise BloxError(
            "a run of real processes cannot be repeated to the byte",
            where="--at",
            fix="take a simulation of the same experiment: blox run",
        )
    return prepared.decision_at(time_s)
