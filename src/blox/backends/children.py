"""Children: the child processes of jobs, started, suspended, resumed, restarted and never left behind.

All times here are real seconds on the monotonic clock; `process.py` scales them to simulated time.
"""

from __future__ import annotations

import os
import resource
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass

from blox.backends import job_process
from blox.backends.job_process import FINISHED, RECORD, RESUME, RUNNING, SUSPEND, SUSPENDED
from blox.errors import BloxError

STARTING = b""  # told to run; no report since
_MOST_PROCESSES = 1000  # each takes some 5 MB of its own
_SPARE_FILES = 64  # file descriptors for the rest of the program; each child takes one
_PATIENCE_S = 10.0  # a child that does not answer a signal for this long is killed
_MOST_LOSSES = 5  # deaths in a row without any progress
_LONGEST_WAIT_S = 3600.0  # selectors count milliseconds in 32 bits


@dataclass(eq=False, slots=True)
class Child:
    """One job: what it was told to do, its last report, and its process if there is one."""

    row: int
    work_s: float
    wanted: bytes = SUSPENDED
    state: bytes = SUSPENDED
    at: float = 0.0  # time of the last report, or of the start
    done_s: float = 0.0  # active seconds until then
    process: subprocess.Popen[bytes] | None = None
    losses: int = 0  # in a row, without progress
    restarts: int = 0

    @property
    def due(self) -> float:
        """The earliest time at which a running job can finish; the time at which a finished one did."""
        return self.at + self.work_s - self.done_s


class Children:
    """The children of all jobs that were started and not forgotten, by row.

    A child that dies before its work is done is started again from its last report, at once if it was told
    to run. Children end with this process, however that ends: they hold the reading end of a pipe whose
    writing end only this process has.
    """

    def __init__(self) -> None:
        self._children: dict[int, Child] = {}
        self._selector = selectors.DefaultSelector()
        self._lifeline, self._held_open = os.pipe()
        self._processes = 0
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = _MOST_PROCESSES if files < 0 else max(1, min(_MOST_PROCESSES, files - _SPARE_FILES))

    def running(self) -> list[Child]:
        """The children that were told to run, finished ones included."""
        return [child for child in self._children.values() if child.wanted == RUNNING]

    def suspended(self) -> list[Child]:
        return [child for child in self._children.values() if child.wanted == SUSPENDED]

    def finished(self) -> list[Child]:
        return [child for child in self._children.values() if child.state == FINISHED]

    def run(self, row: int, work_s: float, begin: float) -> Child:
        """Starts or resumes a job. A new process counts as active from `begin` on."""
        child = self._children.setdefault(row, Child(row, work_s))
        child.wanted = RUNNING
        if child.state == FINISHED:
            return child
        if child.process is None:
            self._start(child, begin)
        else:
            child.state, child.at = STARTING, time.monotonic()
            child.process.send_signal(RESUME)
        return child

    def suspend(self, rows: Iterable[int]) -> list[Child]:
        """Suspends the running ones of these; on return they have stopped and reported, or finished."""
        children = [self._children[row] for row in rows if row in self._children]
        children = [child for child in children if child.wanted == RUNNING]
        # A signal that overtakes another, or that meets a child which is not up yet, would do harm.
        self._settle(children)
        for child in children:
            child.wanted = SUSPENDED
            if child.process is not None and child.state != FINISHED:
                child.process.send_signal(SUSPEND)
        self._settle(children)
        return children

    def forget(self, row: int) -> None:
        """Ends a job for good."""
        child = self._children.pop(row)
        if child.process is not None:
            self._end(child)

    def listen(self, timeout_s: float) -> None:
        """Waits up to `timeout_s` for a report of any child, and reads it; restarts lost children."""
        for key, _ in self._selector.select(max(0.0, min(timeout_s, _LONGEST_WAIT_S))):
            child: Child = key.data
            if child.process is None or child.process.stdout is not key.fileobj:
                continue  # ended meanwhile, to make room
            report = os.read(key.fd, 256 * RECORD.size)
            if report:
                child.state, child.at, child.done_s = RECORD.unpack_from(report, len(report) - RECORD.size)
                child.losses = 0
            else:
                self._end(child)
                if child.state != FINISHED:
                    self._lost(child)

    def close(self) -> None:
        """Ends every child. May be called twice, or be interrupted: children end with their lifeline."""
        held_open, self._held_open = self._held_open, -1
        if held_open < 0:
            return
        os.close(held_open)
        living = [child for child in self._children.values() if child.process is not None]
        for child in living:
            child.process.kill()  # type: ignore[union-attr]
        for child in living:
            self._end(child)
        self._children.clear()
        os.close(self._lifeline)
        self._selector.close()

    def _start(self, child: Child, begin: float) -> None:
        self._make_room()
        words = (child.work_s, child.done_s, begin)
        command = [sys.executable, "-I", "-S", job_process.__file__, *(repr(float(word)) for word in words)]
        try:
            # A process group of its own: Ctrl-C on the terminal is for the scheduler alone.
            process = subprocess.Popen(
                command, stdin=self._lifeline, stdout=subprocess.PIPE, bufsize=0, process_group=0
            )
        except OSError as error:
            raise BloxError(
                f"no process could be started for another job: {error}",
                where="backend process",
                fix=f"{self._processes} are there; use a smaller cluster, or the simulation",
            ) from None
        child.process, child.state, child.at = process, STARTING, begin
        self._processes += 1
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, child)

    def _make_room(self) -> None:
        """If there are too many processes, ends that of the job which has been suspended longest."""
        if self._processes < self._most:
            return
        idle = [child for child in self.suspended() if child.process is not None and child.state == SUSPENDED]
        if not idle:
            raise BloxError(
                f"more than {self._most} jobs would run at once",
                where="backend process",
                fix="use a smaller cluster or the simulation, or allow more open files (ulimit -n)",
            )
        self._end(min(idle, key=lambda child: (child.at, child.row)))

    def _end(self, child: Child) -> None:
        """Ends a process and releases its resources; its last report stays known."""
        process = child.process
        assert process is not None and process.stdout is not None
        process.kill()
        process.wait()
        self._selector.unregister(process.stdout)
        process.stdout.close()
        child.process = None
        self._processes -= 1

    def _lost(self, child: Child) -> None:
        """A process died before its job was done: the job goes on in a new one from its last report."""
        child.losses += 1
        child.restarts += 1
        child.state = SUSPENDED
        if child.losses >= _MOST_LOSSES:
            raise BloxError(
                f"the process of a job died {child.losses} times in a row without any progress",
                where="backend process",
                fix="see what it wrote above; is the machine out of memory?",
            )
        if child.wanted == RUNNING:
            self._start(child, time.monotonic())

    def _settle(self, children: list[Child]) -> None:
        """Waits until each child has done what it was told; kills children that do not answer."""
        deadline = time.monotonic() + _PATIENCE_S
        unsettled = children
        while unsettled := [child for child in unsettled if child.state not in (child.wanted, FINISHED)]:
            if time.monotonic() >= deadline:
                for child in unsettled:
                    child.process.kill()  # type: ignore[union-attr]
                deadline += _PATIENCE_S
            self.listen(deadline - time.monotonic())
