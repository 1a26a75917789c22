"""Runs experiments in parallel processes: each on its own, saved as soon as it has finished.

What a run gives depends on its experiment alone, so the number of processes changes nothing but the time.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

from blox.containment import by_signal
from blox.errors import BloxError, refusal
from blox.experiment.settings import Experiment
from blox.foreign import user_fault
from blox.results.result import Result, label_of

_EVERY_S = 0.1  # how often a run reports its progress


@dataclass(frozen=True)
class Task:
    """An experiment, and the directory that its results go to, if any.

    Of a run without a directory only figures and jobs are handed on, unless `whole` asks for every table.
    `digest` makes figures of a run where it ran: these are then handed on with the summary, and nothing else.
    """

    experiment: Experiment
    directory: Path | None = None
    whole: bool = False
    digest: Callable[[Result], dict[str, Any]] | None = None


@dataclass(frozen=True)
class Outcome:
    """How a task ended: with figures, or with `error`; `trace` is set where blox itself is at fault."""

    task: Task
    result: Result | None = None  # as much of it as the task asks for
    error: BloxError | None = None
    trace: str = ""

    def opened(self) -> Result | None:
        """The result with its tables, read from the directory when first asked for."""
        kept = self.result is not None and self.task.directory is not None
        return Result.open(self.task.directory) if kept and self.task.directory else self.result


class Watcher(Protocol):
    """Is told how things go; tasks are numbered as they were given."""

    def going_on(self, run: int, done: int, total: int) -> None: ...

    def over(self, run: int) -> None: ...


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(experiments: Sequence[Experiment], *, processes: int | None = None) -> list[Result]:
    """Runs experiments in parallel processes (by default one per core); their results, in the same order.

    Results depend on the experiments alone, not on `processes`. Raises the BloxError of the first run that
    failed, once all have ended. Processes are started afresh, so a program calls this below
    `if __name__ == "__main__":`.
    """
    outcomes = run_tasks([Task(each, whole=True) for each in experiments], processes or cores())
    results = []
    for outcome in outcomes:
        if outcome.result is None:
            assert outcome.error is not None
            raise outcome.error
        results.append(outcome.result)
    return results


def run_tasks(tasks: Sequence[Task], processes: int, watcher: Watcher | None = None) -> list[Outcome]:
    """Runs every task and returns how each ended, in the order given. A run that fails stops no other.

    When interrupted, it kills what is going on and raises; what has finished is in its directories.
    """
    outcomes = dict(run_each(tasks, processes, watcher))
    return [outcomes[number] for number in range(len(tasks))]


def run_each(
    tasks: Sequence[Task], processes: int, watcher: Watcher | None = None
) -> Generator[tuple[int, Outcome]]:
    """The same, one by one as they end: the number of the task, and how it ended.

    Runs go on while the caller works between two of them. Closing the iterator kills what is going on.
    """
    if min(processes, len(tasks)) <= 1:
        yield from ((number, _alone(number, task, watcher)) for number, task in enumerate(tasks))
        return
    left = len(tasks)
    waiting = list(enumerate(tasks))[::-1]
    workers = [_Worker() for _ in range(min(processes, len(tasks)))]
    try:
        for worker in workers:
            worker.give(*waiting.pop())
        while left:
            busy = {worker.pipe: worker for worker in workers if worker.number is not None}
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                message = worker.receive()
                if isinstance(message, Outcome):
                    number, left = worker.take_off(), left - 1
                    if waiting:
                        worker.give(*waiting.pop())
                    if watcher is not None:
                        watcher.over(number)
                    yield number, message
                elif watcher is not None and worker.number is not None:
                    watcher.going_on(worker.number, *message)
    finally:
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.join()


def _alone(number: int, task: Task, watcher: Watcher | None) -> Outcome:
    def report(done: int, total: int) -> None:
        if watcher is not None:
            watcher.going_on(number, done, total)

    outcome = _carry_out(task, report)
    if watcher is not None:
        watcher.over(number)
    return outcome


def _carry_out(task: Task, report: Callable[[int, int], None]) -> Outcome:
    """Runs one task to its end; what goes wrong is part of the answer."""
    report(0, 0)
    try:
        result = task.experiment.run(_at_most_every(_EVERY_S, report))
        if task.directory is not None:
            result.save(task.directory)
        digested = task.digest(result) if task.digest is not None else None
    except BloxError as error:
        return Outcome(task, error=error)
    except MemoryError:
        short = BloxError("not enough memory", where=_named(task), fix="use fewer --processes or fewer jobs")
        return Outcome(task, error=short)
    except BaseException as error:
        if by_signal(error):
            raise
        refused = refusal(error) if isinstance(error, OSError) else None
        if (fault := user_fault(error) or refused) is not None:
            return Outcome(task, error=fault)
        what = f"{type(error).__name__}: {error}"
        return Outcome(task, error=BloxError(what, where=_named(task)), trace=traceback.format_exc())
    if task.whole:
        return Outcome(task, result)
    summary, jobs = result.summary, {} if task.directory is not None else result.jobs
    if digested is not None:
        summary, jobs = {**summary, **digested}, {}
    return Outcome(task, Result(result.label, result.experiment, summary, jobs, {}, {}, result.timing))


def _died(code: int, task: Task) -> BloxError:
    """What to say of a run whose process ended with this exit code (below 0: by a signal)."""
    if code < 0:
        how = f"was killed by signal {-code}"
        fix = "probably too little memory: use fewer --processes or fewer jobs"
    else:
        how = f"ended with code {code} before it could answer"
        fix = (
            "a file of yours ended it; or else, in a program of your own, "
            'call run_all() below `if __name__ == "__main__":`'
        )
    return BloxError(f"its process {how}", where=_named(task), fix=fix)


def _named(task: Task) -> str:
    return f"run {label_of(task.experiment.to_table())}"


def _at_most_every(seconds: float, report: Callable[[int, int], None]) -> Callable[[int, int], None]:
    last = 0.0

    def report_now_and_then(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= seconds:
            last = now
            report(done, total)

    return report_now_and_then


@dataclass
class _Worker:
    """A process that takes one task at a time; replaced when it dies."""

    number: int | None = None  # of the task it has
    task: Task | None = None
    pipe: Connection = field(init=False)
    process: BaseProcess = field(init=False)

    def __post_init__(self) -> None:
        self._start()

    def give(self, number: int, task: Task) -> None:
        self.number, self.task = number, task
        self.pipe.send(task)

    def receive(self) -> Any:
        """An Outcome, or (jobs done, jobs to do). A process that died has failed its task."""
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionResetError):
            assert self.task is not None
            task = self.task
            self.process.join()
            code = self.process.exitcode or 0
            self.pipe.close()
            self._start()
            return Outcome(task, error=_died(code, task))

    def take_off(self) -> int:
        number, self.number, self.task = self.number, None, None
        assert number is not None
        return number

    def stop(self) -> None:
        """Asks an idle process to leave, and kills a busy one."""
        if self.number is not None:
            self.process.terminate()
        with contextlib.suppress(OSError):
            self.pipe.close()

    def join(self) -> None:
        self.process.join(10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def _start(self) -> None:
        # A fresh interpreter: forking one that has threads (a progress bar) can hang.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        with _interrupts_blocked():
            self.process.start()
        theirs.close()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Ctrl-C comes after this block, and never to a process that is started in it: such a process would say
    so with a traceback while it imports, before it can decide to leave that to its parent."""
    resource_tracker.ensure_running()  # which lets signals through where it has to start first
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe: Connection) -> None:
    """The life of a worker process: tasks in, progress and outcomes out, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    import duckdb  # noqa: F401 - results are saved with it: unwound in the middle, its import complains aloud

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds, so that no draft is left behind
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            task = pipe.recv()
            pipe.send(_carry_out(task, lambda done, total: pipe.send((done, total))))
