"""replay(): plays a workload of the simulator on a cluster of real processes, in scaled time."""

from __future__ import annotations

import dataclasses
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from blox.cluster.api import Client
from blox.cluster.central.records import Policies
from blox.cluster.protocol.timing import Timing
from blox.cluster.recorded import Timeline, result_of
from blox.cluster.shell import local
from blox.cluster.shell.place import Place
from blox.errors import BloxError
from blox.experiment.prepared import Prepared
from blox.experiment.settings import Experiment
from blox.results.result import Result
from blox.workloads.spec import workload_rng

_JOB = Path(__file__).parent / "shell" / "replay_job.py"
_LOOK_S = 0.2
Progress = Callable[[int, int], None]  # (jobs done, jobs to do)


def replay(experiment: Experiment, speedup: float, progress: Progress | None = None) -> Result:
    """Starts a cluster of the experiment's size, submits each job when its time comes, and waits for the
    last.

    A job holds its slots for as long as its entry says, `speedup` times as fast; it can be preempted and
    moved. The cluster is taken down again whatever happens.
    """
    if not 0 < speedup < math.inf:
        raise BloxError(f"speedup is {speedup!r}", where="--speedup", fix="give a number above 0")
    prepared = Prepared(dataclasses.replace(experiment, backend=f"process:speedup={speedup:g}"))
    nodes, gpus = len(prepared.cluster.nodes), {node.gpus for node in prepared.cluster.nodes}
    if len(gpus) > 1:
        raise BloxError(
            "the nodes differ in their number of GPUs",
            where="cluster",
            fix="replay on nodes of one size: 8x4",
        )
    policies = Policies(*(str(getattr(experiment, n)) for n in ("admission", "scheduler", "placement")))
    timing = Timing(round_s=experiment.round_s / speedup, heartbeat_s=0.5, lease_s=60.0, grace_s=20.0)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="blox-replay-") as directory:
        place = Place.of(directory)
        client = local.start(place, nodes, gpus.pop(), timing=timing, policies=policies, attached=True)
        try:
            begin_s = _next_round(client, timing.round_s)
            numbers = _submit_all(client, list(_jobs(prepared)), begin_s, speedup)
            views = _wait_for(client, numbers, progress)
        finally:
            local.stop(place)
    timeline = Timeline.of(views, begin_s, speedup)
    return result_of(prepared, timeline, {"wall_s": time.perf_counter() - began})


def _jobs(prepared: Prepared) -> Iterator[dict[str, Any]]:
    """The jobs of the workload, in order of submission."""
    left = prepared.most_jobs if prepared.most_jobs is not None else sys.maxsize
    for table in prepared.workload.batches(workload_rng(prepared.experiment.seed)):
        names = ("submit_s", "duration_s", "gpus", "user", "tenant", "priority")
        columns = {name: table.column(name).tolist() for name in names}
        for values in zip(*columns.values()):
            if not left:
                return
            left -= 1
            yield dict(zip(columns, values))


def _next_round(client: Client, round_s: float) -> float:
    """The cluster's time at which the replay begins: a boundary of rounds, so that these are the
    simulation's."""
    return math.ceil(client.policies().now_s / round_s + 1.0) * round_s


def _submit_all(client: Client, jobs: list[dict[str, Any]], begin_s: float, speedup: float) -> list[int]:
    offset = time.monotonic() - client.policies().now_s
    numbers = []
    for job in jobs:
        due = begin_s + job["submit_s"] / speedup + offset
        time.sleep(max(0.0, due - time.monotonic()))
        real_s = job["duration_s"] / speedup
        command = [sys.executable, "-S", "-E", str(_JOB), repr(real_s)]
        fields = {name: job[name] for name in ("user", "tenant", "priority")}
        numbers.append(
            client.submit(command, int(job["gpus"]), expected_s=real_s, preemption="signal", **fields)
        )
    return numbers


def _wait_for(client: Client, numbers: list[int], progress: Progress | None) -> list[Any]:
    while True:
        ended = sum(view.end_s is not None for view in client.jobs())
        if progress is not None:
            progress(ended, len(numbers))
        if ended == len(numbers):
            break
        time.sleep(_LOOK_S)
    views = [client.job(number) for number in numbers]
    for view in views:
        if view.state != "finished":
            raise BloxError(f"job {view.job} did not finish: {view.state}", where="replay", fix="see its log")
    return views
