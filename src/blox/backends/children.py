"""Children: the child processes of jobs, started, suspended, resumed, restarted and never left behind.

All times here are real seconds on the monotonic clock. What time means to a scheduler is not decided here.
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

STARTING = b""  # commanded to run, and not heard of since
_MOST_PROCESSES = 1000  # each takes some 5 MB of its own
_SPARE_FILES = 64  # file descriptors left to the rest of the program; each child takes one
_PATIENCE_S = 10.0  # a child that does not answer a signal for so long is killed
_MOST_LOSSES = 5  # deaths in a row without any progress
_LONGEST_WAIT_S = 3600.0  # selectors count milliseconds in 32 bits


@dataclass(eq=False, slots=True)
class Child:
    """One job: what it was told to do, what it last said of itself, and its process if there is one."""

    row: int
    work_s: float
    wanted: bytes = SUSPENDED
    state: bytes = SUSPENDED
    at: float = 0.0  # when it said so, or was started
    done_s: float = 0.0  # active seconds until then
    process: subprocess.Popen[bytes] | None = None
    losses: int = 0  # in a row, without progress
    restarts: int = 0

    @property
    def due(self) -> float:
        """When a running job finishes if left alone, and never before; of a finished one, when it did."""
        return self.at + self.work_s - self.done_s


class Children:
    """Every job that was started and is not forgotten, by row.

    A child that dies before its work is done is started again from what it last reported, at once if it
    was to run. Whatever happens to this process, its children end: they hold the reading end of a pipe
    whose writing end only this process has.
    """

    def __init__(self) -> None:
        self._children: dict[int, Child] = {}
        self._selector = selectors.DefaultSelector()
        self._lifeline, self._held_open = os.pipe()
        self._processes = 0
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = _MOST_PROCESSES if files < 0 else max(1, min(_MOST_PROCESSES, files - _SPARE_FILES))

    def running(self) -> list[Child]:
        """Those that were told to run, finished ones included."""
        return [child for child in self._children.values() if child.wanted == RUNNING]

    def suspended(self) -> list[Child]:
        return [child for child in self._children.values() if child.wanted == SUSPENDED]

    def finished(self) -> list[Child]:
        return [child for child in self._children.values() if child.state == FINISHED]

    def run(self, row: int, work_s: float, begin: float) -> Child:
        """Starts a job, or lets it go on. A new process counts as active from `begin` on."""
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
        """Suspends those that run; on return they have stopped and said how far they came, or finished."""
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
        """Waits up to `timeout_s` for any child to say something, and takes it in; restarts lost ones."""
        for key, _ in self._selector.select(max(0.0, min(timeout_s, _LONGEST_WAIT_S))):
            child: Child = key.data
            if child.process is None or child.process.stdout is not key.fileobj:
                continue  # ended meanwhile, to make room
            said = os.read(key.fd, 256 * RECORD.size)
            if said:
                child.state, child.at, child.done_s = RECORD.unpack_from(said, len(said) - RECORD.size)
                child.losses = 0
            else:
                self._end(child)
                if child.state != FINISHED:
                    self._lost(child)

    def close(self) -> None:
        """Ends every child. May be called again, and be interrupted: they end with their lifeline anyway."""
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
        """Lets the process of the job go that has been suspended longest, if there are too many."""
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
        """Ends a process and leaves nothing of it; what it last said stays known."""
        process = child.process
        assert process is not None and process.stdout is not None
        process.kill()
        process.wait()
        self._selector.unregister(process.stdout)
        process.stdout.close()
        child.process = None
        self._processes -= 1

    def _lost(self, child: Child) -> None:
        """A process died with work left: the job goes on in a new one from what it last reported."""
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
        """Waits until every one of them has done as told; kills those that do not answer."""
        deadline = time.monotonic() + _PATIENCE_S
        unsettled = children
        while unsettled := [child for child in unsettled if child.state not in (child.wanted, FINISHED)]:
            if time.monotonic() >= deadline:
                for child in unsettled:
                    child.process.kill()  # type: ignore[union-attr]
                deadline += _PATIENCE_S
            self.listen(deadline - time.monotonic())
