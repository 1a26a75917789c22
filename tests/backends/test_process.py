"""The process backend: the same experiment in real, scaled time, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from blox.backends import children as children_module
from blox.backends import job_process
from blox.backends.children import Children
from blox.backends.feed import JobFeed
from blox.backends.process import Processes
from blox.errors import BloxError
from blox.experiment.settings import Experiment
from blox.results.result import Result
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from support import traces
from support.states import idle_cluster, job_table

SPEEDUP = 60.0
PATIENCE_S = 20.0  # deadline of every poll; reached only when something is broken


def test_twenty_jobs_finish_as_in_the_simulation(tmp_path: Path) -> None:
    """Every JCT is within 2 % plus one real second, with queueing and with preemption.

    Rounds are one real second. Jobs are submitted in the middle of a round and last some rounds and a
    half, so every event is half a real second away from the boundary at which it would matter.
    """
    trace = twenty_jobs(tmp_path)
    experiments = {
        (scheduler, backend): Experiment(
            workload=trace,
            cluster="3x2",
            scheduler=scheduler,
            round_s=60.0,
            backend=backend,
            speedup=SPEEDUP,
        )
        for scheduler in ("fifo", "las")
        for backend in ("simulation", "process")
    }
    started = time.monotonic()
    with ThreadPoolExecutor() as pool:
        results = dict(zip(experiments, pool.map(Experiment.run, experiments.values())))
    assert time.monotonic() - started < 60.0

    for scheduler in ("fifo", "las"):
        simulated, real = results[scheduler, "simulation"], results[scheduler, "process"]
        jct_s = simulated.jobs["jct_s"]
        assert len(jct_s) == 20 and (real.jobs["state"] == "finished").all()
        np.testing.assert_array_less(np.abs(real.jobs["jct_s"] - jct_s), 0.02 * jct_s + SPEEDUP)
        assert (simulated.jobs["queueing_s"] > 60.0).any()
    assert results["las", "simulation"].summary["preemptions"] > 10
    assert results["las", "process"].summary["preemptions"] > 10
    assert own_children() == []


def test_the_event_driven_clock_wakes_when_a_child_finishes(tmp_path: Path) -> None:
    """Without rounds, a waiting job starts as soon as the one before it is done."""
    trace = write_trace(tmp_path, [(0, 1, 30), (5, 1, 30), (10, 1, 30)])
    result = run_processes(trace, "1x1", clock="events")
    np.testing.assert_allclose(result.jobs["finish_s"], [30.0, 60.0, 90.0], atol=SPEEDUP / 2)
    assert result.timing["rounds_executed"] < 50  # it slept in between


def test_a_completion_at_a_boundary_counts_there(tmp_path: Path) -> None:
    """Jobs that last whole rounds follow each other without a round in between, as in the simulation.

    One round may be lost on a busy machine; without the rule, one would be lost after every job.
    """
    trace = write_trace(tmp_path, [(0, 1, 60)] * 4)
    result = run_processes(trace, "1x1", round_s=30.0)
    assert 240.0 <= result.jobs["finish_s"][-1] + 1e-6 < 240.0 + 45.0


def test_a_suspended_job_keeps_its_progress_and_gains_none() -> None:
    with Driven([600.0]) as driven:
        driven.launch(0)
        driven.wait(24.0)
        driven.backend.suspend(np.array([0]), driven.job_state)
        driven.job_state.stop(np.array([0]), driven.job_state.now)
        kept = driven.job_state.columns.done0[0]
        assert 23.0 < kept < driven.job_state.now + SPEEDUP
        (child,) = own_children()
        driven.wait(54.0)
        driven.collect()
        assert driven.job_state.columns.done0[0] == kept
        driven.launch(0)
        assert own_children() == [child]  # the same process goes on
        resumed = driven.job_state.now
        driven.wait(resumed + 24.0)
        driven.collect()
        gained = driven.job_state.now - resumed
        assert abs(driven.job_state.done_s()[0] - (kept + gained)) < 20.0  # a third of a real second


def test_progress_is_measured_and_anchored_anew() -> None:
    """Policies see what children report; the anchor is when they did."""
    with Driven([600.0]) as driven:
        driven.launch(0)
        driven.wait(60.0)
        driven.collect()
        columns = driven.job_state.columns
        assert columns.done0[0] > 0.0 and columns.anchor[0] > 0.0
        assert abs(driven.job_state.done_s()[0] - driven.job_state.now) < SPEEDUP / 5


def test_a_job_that_finishes_as_it_is_suspended_has_finished() -> None:
    """Its exact finish is reported in the next round, and a move in the same round starts nothing."""
    with Driven([30.0, 30.0]) as driven:
        driven.launch(0)
        driven.launch(1)
        driven.job_state.now = 24.0  # the round began before they finished, and its policies took long
        poll(lambda: not any(alive(child) for child in own_children()))
        driven.backend.suspend(np.array([0, 1]), driven.job_state)
        driven.job_state.stop(np.array([0, 1]), 24.0)
        driven.launch(1)
        assert not any(alive(child) for child in own_children())
        driven.wait(60.0)
        rows, finish_s = driven.completed()
        assert rows.tolist() == [0, 1]
        assert finish_s[0] == pytest.approx(30.0) and finish_s[1] > 30.0


def test_who_is_late_is_told_the_time_it_is() -> None:
    with Driven([600.0]) as driven:
        driven.wait(6.0)
        time.sleep(0.3)  # a policy that thinks for longer than a round
        assert driven.backend.wait_until(12.0) >= 6.0 + 0.3 * SPEEDUP


def test_a_job_that_ends_early_loses_its_process() -> None:
    with Driven([600.0, 600.0]) as driven:
        driven.launch(0)
        driven.backend.suspend(np.array([0, 1]), driven.job_state)  # 1 was never started
        driven.job_state.finish(np.array([0, 1]), np.zeros(2))
        driven.collect()
        assert own_children() == []


def test_a_child_that_is_killed_still_finishes_its_job() -> None:
    """It goes on from its last report, in its place, and the restart is counted."""
    with Driven([120.0]) as driven:
        driven.launch(0)
        driven.wait(60.0)
        (victim,) = own_children()
        victim.kill()
        poll(lambda: driven.step() or [child for child in own_children() if child != victim])
        driven.collect()
        assert driven.job_state.metric("restarts").tolist() == [1.0]
        rows, finish_s = poll(lambda: driven.step() or nonempty(driven.completed()))
        assert rows.tolist() == [0]
        # At most the last half second, the detection and a start are lost: well below the two real seconds
        # that an anew start would take.
        assert 120.0 <= finish_s[0] < 120.0 + 1.5 * SPEEDUP


def test_a_suspended_child_that_is_killed_goes_on_from_its_progress() -> None:
    with Driven([600.0]) as driven:
        driven.launch(0)
        driven.wait(60.0)
        driven.backend.suspend(np.array([0]), driven.job_state)
        driven.job_state.stop(np.array([0]), driven.job_state.now)
        (victim,) = own_children()
        victim.kill()
        poll(lambda: driven.step() or not own_children())
        driven.launch(0)
        driven.wait(driven.job_state.now + 1.0)
        driven.collect()
        assert driven.job_state.done_s()[0] > 59.0


def test_a_child_that_cannot_start_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit(3)\n")
    monkeypatch.setattr(job_process, "__file__", str(broken))
    with Driven([60.0]) as driven, pytest.raises(BloxError, match="died 5 times"):
        driven.launch(0)
        poll(lambda: driven.step())


def test_a_child_that_does_not_answer_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children_module, "_PATIENCE_S", 0.3)
    with Driven([600.0]) as driven:
        driven.launch(0)
        driven.wait(60.0)
        (stuck,) = own_children()
        stuck.send_signal(signal.SIGSTOP)
        driven.backend.suspend(np.array([0]), driven.job_state)
        assert own_children() == []
        assert driven.job_state.columns.done0[0] > 20.0


def test_processes_of_suspended_jobs_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only jobs that run are bounded; a suspended one that gives way goes on from its progress."""
    monkeypatch.setattr(children_module, "_MOST_PROCESSES", 2)
    children = Children()
    try:
        for row in (0, 1):
            children.run(row, 100.0, time.monotonic() - 10.0)
        children.suspend([0])
        children.run(2, 100.0, time.monotonic())
        poll(lambda: len(own_children()) == 2)  # a process that is just being made has no name yet
        with pytest.raises(BloxError, match="more than 2 jobs would run at once"):
            children.run(3, 100.0, time.monotonic())
        children.suspend([1])
        resumed = children.run(0, 100.0, time.monotonic())
        assert 10.0 <= resumed.done_s < 10.0 + PATIENCE_S
        poll(lambda: len(own_children()) == 2)  # a process that is just being made has no name yet
    finally:
        children.close()
    assert own_children() == []


def test_no_process_is_left_when_a_policy_raises(tmp_path: Path) -> None:
    policy = tmp_path / "broken.py"
    policy.write_text(
        "from dataclasses import dataclass\n"
        "from blox import Schedule\n\n\n"
        "@dataclass(frozen=True)\n"
        "class Broken:\n"
        '    """Runs everything, and fails in the third round."""\n\n'
        "    def schedule(self, job_state, cluster_state):\n"
        "        if job_state.now >= 60:\n"
        "            raise RuntimeError('the policy is broken')\n"
        "        return Schedule.ordered(job_state)\n"
    )
    trace = write_trace(tmp_path, [(0, 1, 3600)] * 3)
    with pytest.raises(BloxError, match="the policy is broken"):
        run_processes(trace, "1x2", scheduler=f"{policy}:Broken", round_s=30.0)
    assert own_children() == []


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_scheduler(tmp_path: Path, ending: signal.Signals) -> None:
    """Running and suspended children alike end with it, however it ends."""
    trace = write_trace(tmp_path, [(0, 1, 36000)] * 4)
    settings = f"workload={trace!r}, cluster='1x2', scheduler='las', round_s=15.0, backend='process'"
    program = f"from blox.experiment.settings import Experiment; Experiment({settings}, speedup=60.0).run()"
    scheduler = subprocess.Popen(
        [sys.executable, "-c", program],
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in a shell's background
    )
    try:
        jobs = poll(lambda: four(children_of(scheduler.pid)))  # two of them suspended
        scheduler.send_signal(ending)
        scheduler.wait(PATIENCE_S)
    finally:
        scheduler.kill()
        scheduler.wait()
    assert scheduler.returncode != 0
    poll(lambda: not any(alive(job) for job in jobs))


def test_ctrl_c_reaches_the_scheduler_alone() -> None:
    """A terminal sends SIGINT to the whole process group; children are in groups of their own."""
    with Driven([600.0]) as driven:
        driven.launch(0)
        (child,) = own_children()
        assert os.getpgid(child.pid) == child.pid


# -- workloads --------------------------------------------------------------------------------------


def twenty_jobs(directory: Path) -> str:
    """Twenty jobs of 1 or 2 GPUs and half a round to three rounds and a half, faster than six GPUs serve."""
    rng = np.random.default_rng(7)
    rounds = np.sort(rng.integers(0, 5, 20))
    gpus, lengths = rng.integers(1, 3, 20), rng.integers(0, 4, 20)
    return write_trace(directory, [(60 * r + 30, g, 60 * n + 30) for r, g, n in zip(rounds, gpus, lengths)])


def write_trace(directory: Path, jobs: list[tuple[int, int, int]]) -> str:
    """A trace of (submit_s, gpus, duration_s)."""
    return traces.trace(directory / "trace.csv", [(number, *job) for number, job in enumerate(jobs)])


def run_processes(
    trace: str, cluster: str, scheduler: str = "fifo", clock: str = "rounds", round_s: float = 60.0
) -> Result:
    return Experiment(
        workload=trace,
        cluster=cluster,
        scheduler=scheduler,
        clock=clock,
        round_s=round_s,
        backend="process",
        speedup=SPEEDUP,
    ).run()


class Driven:
    """A backend that is driven by hand: jobs of the given durations, each on a GPU of its own."""

    def __init__(self, durations: list[float]) -> None:
        count = len(durations)
        feed = JobFeed(iter([job_table([1] * count, durations)]), count, lambda jobs: jobs)
        self.backend = Processes(feed, SPEEDUP)
        self.job_state = JobState()
        self.cluster_state = idle_cluster(f"1x{count}")
        self.backend.submit(self.job_state)
        self.job_state.add_new_jobs(self.job_state.waiting)

    def __enter__(self) -> Driven:
        return self

    def __exit__(self, *_: object) -> None:
        self.backend.close()
        assert own_children() == []

    def launch(self, row: int) -> None:
        grants = Allocation.from_dict({row: (row,)})
        rate, anchor = self.backend.launch(grants, self.cluster_state, self.job_state)
        self.job_state.start(grants.jobs, grants.counts, rate, anchor)

    def wait(self, time_s: float) -> None:
        self.job_state.now = self.backend.wait_until(time_s)

    def step(self) -> None:
        """Goes on by a tenth of a real second."""
        self.wait(self.job_state.now + SPEEDUP / 10)

    def collect(self) -> None:
        self.backend.collect(self.cluster_state, self.job_state)

    def completed(self) -> tuple[np.ndarray, np.ndarray]:
        return self.backend.completed(self.cluster_state, self.job_state)


# -- looking at processes ---------------------------------------------------------------------------


def poll(condition: Callable[[], Any]) -> Any:
    """The condition's value as soon as it is true."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError("it did not happen in time")


FROM_BEFORE: set[int] = set()


@pytest.fixture(autouse=True)
def leave_out_what_other_tests_have_started() -> None:
    """A dead child of another test in the same worker must not be taken for one of ours."""
    FROM_BEFORE.clear()
    FROM_BEFORE.update(child.pid for child in psutil.Process().children())


def own_children() -> list[psutil.Process]:
    """The jobs' processes that this one has started, dead ones that nobody buried included."""
    return [child for child in children_of(os.getpid()) if child.pid not in FROM_BEFORE]


def children_of(pid: int) -> list[psutil.Process]:
    return [child for child in psutil.Process(pid).children() if is_job(child)]


def is_job(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE or job_process.__file__ in process.cmdline()
    except psutil.NoSuchProcess:
        return False


def alive(process: psutil.Process) -> bool:
    """Whether an orphan still runs; once it is dead, burying it is for the system to do."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def four(processes: list[psutil.Process]) -> list[psutil.Process]:
    return processes if len(processes) == 4 else []


def nonempty(pair: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
    return pair if len(pair[0]) else None
