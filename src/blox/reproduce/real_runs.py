"""Runs on real processes beside their simulations: the same jobs, with the start times of the real run."""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from blox.experiment.settings import Experiment
from blox.results.result import Result
from blox.workloads.spec import workload_from_spec, workload_rng
from blox.workloads.table import Array

HOUR_S = 3600.0
T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """One policy: jobs, how many an hour, how long at most (h), how fast, with rounds of which length (s).

    `wide`: jobs need several GPUs, so many times as many as in Gavel's mix, 8 at most; 0: one each.
    """

    scheduler: str
    jobs: int
    load: float
    longest_h: float
    speedup: float
    round_s: float
    wide: int


def at_once(acts: Sequence[Callable[[], T]]) -> list[T]:
    """What functions return, each called in a process of its own. Raises what the first to fail has raised.

    An interruption or a failure ends the others, too, and waits until they have taken down what they started.
    """
    context = multiprocessing.get_context("spawn")
    found: dict[int, T] = {}
    numbers: dict[Connection, int] = {}
    processes = []
    try:
        for number, act in enumerate(acts):
            pipe, answer = context.Pipe(duplex=False)
            numbers[pipe] = number
            processes.append(context.Process(target=_call, args=(answer, act)))
            processes[-1].start()
            answer.close()
        while len(found) < len(acts):
            for ready in wait([pipe for pipe, number in numbers.items() if number not in found]):
                assert isinstance(ready, Connection)
                value = ready.recv()
                if isinstance(value, BaseException):
                    raise value
                found[numbers[ready]] = value
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
    return [found[number] for number in range(len(acts))]


def _call(answer: Connection, act: Callable[[], object]) -> None:
    """In a process of its own: what ends it is the other's to say, and unwinds it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        value = act()
    except Exception as error:
        answer.send(error)
    else:
        answer.send(value)


def measured_run(run: Run, seed: int) -> dict[str, Any]:
    """Completion times (s) on processes and simulated, what starts took, and how busy the machine was."""
    from blox.cluster.replay import replay

    with tempfile.TemporaryDirectory(prefix="blox-fig18-") as directory:
        file = Path(directory) / "jobs.csv"
        _write_jobs(file, run, seed)
        experiment = Experiment(
            workload=str(file),
            cluster="8x4",
            scheduler=run.scheduler,
            placement="first-free",
            round_s=run.round_s,
        )
        real = replay(experiment, run.speedup, job="sleep")
        load = os.getloadavg()[0]
        launch_s, restart_s = overheads_of(real)
        paid = f"launch={launch_s:.3f},restart={restart_s:.3f}"
        simulated = replace(experiment, overheads=paid).run()
    return {
        "real_s": real.jobs["jct_s"].tolist(),
        "simulated_s": simulated.jobs["jct_s"].tolist(),
        "launch_s": launch_s,
        "restart_s": restart_s,
        "preemptions": int(real.summary["preemptions"]),
        "simulated_preemptions": int(simulated.summary["preemptions"]),
        "uneven_s": uneven_s(real, launch_s, restart_s),
        "load": load,
        "speedup": run.speedup,
        "wall_s": real.timing["wall_s"],
    }


def overheads_of(real: Result) -> tuple[float, float]:
    """Seconds on GPUs without work, of a first start and of each further one, on average (simulated time)."""
    jobs = real.jobs
    extra = jobs["run_s"] - jobs["duration_s"]
    again = jobs["preemptions"] + jobs["moves"]
    once: Array = extra[again == 0]
    launch_s = max(0.0, float(once.mean())) if len(once) else 0.0
    if not again.sum():
        return launch_s, launch_s
    return launch_s, max(0.0, float((extra - launch_s)[again > 0].sum() / again.sum()))


def uneven_s(real: Result, launch_s: float, restart_s: float) -> float:
    """By how much the time that a job spent on GPUs without work differs from what the simulation charges, on
    average: what the simulation cannot know."""
    jobs = real.jobs
    charged = launch_s + restart_s * (jobs["preemptions"] + jobs["moves"])
    return float(np.abs(jobs["run_s"] - jobs["duration_s"] - charged).mean())


def _write_jobs(file: Path, run: Run, seed: int) -> None:
    """The jobs of a run as a workload of its own: durations above the longest are cut."""
    with open(file, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("job_id", "submit_s", "gpus", "duration_s"))
        for number, (submit_s, gpus, duration_s) in enumerate(_drawn(run, seed)):
            needed = min(8, gpus * max(1, run.wide))
            writer.writerow((number, submit_s, needed, min(duration_s, run.longest_h * HOUR_S)))


def _drawn(run: Run, seed: int) -> Iterator[tuple[float, int, float]]:
    sizes = ",multi=true,max_gpus=8" if run.wide else ""
    workload = workload_from_spec(f"gavel:load={run.load:g},jobs={run.jobs}{sizes}")
    for table in workload.batches(workload_rng(seed)):
        yield from zip(*(table.column(name).tolist() for name in ("submit_s", "gpus", "duration_s")))
