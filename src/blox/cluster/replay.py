"""replay(): plays a workload of the simulator on a cluster of real processes, in scaled time."""

from __future__ import annotations

import dataclasses
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from blox.backends.replay import JobKind, Replay
from blox.cluster.api import Client
from blox.cluster.protocol.timing import Timing
from blox.cluster.recorded import Timeline, result_of
from blox.cluster.shell.local import local_cluster
from blox.errors import BloxError
from blox.experiment.prepared import Prepared
from blox.experiment.settings import Experiment
from blox.results.result import Result
from blox.workloads.drawn import drawn
from blox.workloads.spec import workload_rng

_JOBS = Path(__file__).parent / "jobs"
_PREEMPTION = {"sleep": "signal", "train": "iteration"}
# -S and -E: `sleep` needs the standard library alone, and starts at once.
_START = {"sleep": ["-S", "-E"], "train": []}
_LOOK_S = 0.2
_LEAD_S = 0.5  # within which a submission is acknowledged, also on a busy machine
Progress = Callable[[int, int], None]  # (jobs done, jobs to do)


@dataclasses.dataclass(frozen=True)
class Play:
    """How a workload is played: `speedup` times as fast, by which jobs, with what patience (real seconds)."""

    speedup: float = 60.0
    job: JobKind = "train"
    grace_s: float = 20.0

    def prepare(self, experiment: Experiment) -> Prepared:
        """Raises BloxError for an experiment that real processes cannot play."""
        backend = Replay(self.speedup, self.job)
        prepared = Prepared(dataclasses.replace(experiment, backend=backend.spec))
        if len({node.gpus for node in prepared.cluster.nodes}) > 1:
            raise BloxError(
                "the nodes differ in their number of GPUs",
                where="cluster",
                fix="replay on nodes of one size: 8x4",
            )
        return prepared

    def timing(self, round_s: float) -> Timing:
        return Timing(
            round_s=round_s / self.speedup,
            heartbeat_s=0.5,
            lease_s=self.grace_s + 40.0,
            grace_s=self.grace_s,
        )

    def command(self, duration_s: float) -> list[str]:
        return [sys.executable, *_START[self.job], str(_JOBS / f"{self.job}.py"), repr(duration_s)]


def replay(
    experiment: Experiment,
    speedup: float = 60.0,
    progress: Progress | None = None,
    *,
    job: JobKind = "train",
    grace_s: float = 20.0,
) -> Result:
    """Starts a cluster of the experiment's size, submits each job when its time comes, and waits for the
    last.

    A job is one process per GPU, which holds its slot for as long as its entry says, `speedup` times as fast;
    it can be preempted and moved. The cluster is taken down again whatever happens.
    """
    play = Play(speedup, job, grace_s)
    return play_prepared(play, play.prepare(experiment), progress)


def play_prepared(play: Play, prepared: Prepared, progress: Progress | None = None) -> Result:
    """Plays an experiment that `play.prepare` has checked.

    Simulates it first: the results call its policies again after the real run, so a policy that raises must
    be reported before it.
    """
    experiment, nodes = prepared.experiment, prepared.cluster.nodes
    Prepared(dataclasses.replace(experiment, backend="simulation")).run()
    policies = {name: str(getattr(experiment, name)) for name in ("admission", "scheduler", "placement")}
    timing = play.timing(experiment.round_s)
    began = time.perf_counter()
    with local_cluster(len(nodes), nodes[0].gpus, timing=timing, **policies) as client:
        begin_s = _next_round(client, timing.round_s)
        numbers = _submit_all(client, play, list(jobs_of(prepared)), begin_s, experiment.round_s)
        views = _wait_for(client, numbers, progress)
    timeline = Timeline.of(views, begin_s, play.speedup)
    return result_of(prepared, timeline, {"wall_s": time.perf_counter() - began})


def jobs_of(prepared: Prepared) -> Iterator[dict[str, Any]]:
    """The jobs of the workload, in order of submission."""
    left = prepared.most_jobs if prepared.most_jobs is not None else sys.maxsize
    for table in drawn(prepared.workload, workload_rng(prepared.experiment.seed)):
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


def _submit_all(
    client: Client, play: Play, jobs: list[dict[str, Any]], begin_s: float, round_s: float
) -> list[int]:
    offset = time.monotonic() - client.policies().now_s
    numbers = []
    for job in jobs:
        due_s = begin_s + offset + _due_s(job["submit_s"], round_s, play.speedup)
        time.sleep(max(0.0, due_s - time.monotonic()))
        real_s = job["duration_s"] / play.speedup
        fields = {name: job[name] for name in ("user", "tenant", "priority")}
        numbers.append(
            client.submit(
                play.command(real_s),
                int(job["gpus"]),
                expected_s=real_s,
                preemption=_PREEMPTION[play.job],
                **fields,
            )
        )
    return numbers


def _due_s(submit_s: float, round_s: float, speedup: float) -> float:
    """When to submit a job, in real seconds from the beginning: a little early, so that it is there in the
    first round at or after its time, but not before the round ahead of that has been."""
    previous_s = (math.ceil(submit_s / round_s) - 1) * round_s
    lead_s = min(_LEAD_S, round_s / speedup / 2)
    return max(submit_s / speedup - lead_s, previous_s / speedup + lead_s)


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
            raise BloxError(
                f"job {view.job} did not finish: {view.state}",
                where="replay",
                fix="is the machine out of processes or memory? try a smaller speedup, or fewer jobs",
            )
    return views
