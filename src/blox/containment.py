"""Code of a user's file, contained: it cannot end the process in silence, move it elsewhere or loop for ever.

`contained()` and `time_limit()` stand around calls into such files. What the code raises is told by the
caller: `by_signal()` says whether a KeyboardInterrupt or SystemExit is the user's (Ctrl-C, SIGTERM) or was
raised by the code. `leave()` ends the process where the code catches everything that would end it.
"""

from __future__ import annotations

import contextlib
import dis
import math
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import NoReturn

from blox.errors import BloxError
from blox.user_modules import users_lines

POLICY_TIMEOUT_S = 300.0  # for one call into a user's file, such as a decision of a policy
MORE_TIME = "let it end sooner, or give it more time: --policy-timeout SECONDS"
_AGAIN_S = 1.0  # how soon TimeUp is raised again where it was caught
_MOST_TIMES = 2  # how often TimeUp is raised before the process is left
_PACKAGE = str(Path(__file__).parent)
_AROUND = frozenset((__file__, contextlib.__file__))  # what stands around the code: it must end its work
_RAISE = dis.opmap["RAISE_VARARGS"]
_leave = os._exit
_lock = threading.Lock()
_inside = [0, 0]  # how many are inside `contained()`, and in which process
_allowed_s: ContextVar[float] = ContextVar("allowed_s", default=POLICY_TIMEOUT_S)


class ProcessEnd(BaseException):
    """The code has called os._exit(): raised in place of an end in silence."""


class TimeUp(BaseException):
    """The code has taken longer than it may."""


@contextlib.contextmanager
def contained() -> Iterator[None]:
    """Inside, os._exit() raises ProcessEnd; afterwards the working directory is what it was."""
    home = _here()
    _count_inside(1)
    try:
        yield
    finally:
        _count_inside(-1)
        if home and _here() != home:
            os.chdir(home)


@contextlib.contextmanager
def allowing(seconds: float) -> Iterator[None]:
    """Inside, each call into a user's file may take so many seconds."""
    before = _allowed_s.set(seconds)
    try:
        yield
    finally:
        _allowed_s.reset(before)


def allowed_s() -> float:
    """How many seconds a call into a user's file may take here."""
    return _allowed_s.get()


class _Alarm:
    """The answer to SIGALRM in code whose time is limited: TimeUp; where it is caught twice, the end."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.times = seconds, 0

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_filename in _AROUND:
            return  # the code has just been left, or is about to be entered: then the next alarm finds it
        self.times += 1
        words = f"no answer within {self.seconds:g} s"
        if self.times > _MOST_TIMES:
            leave(f"{words}, and it catches what would end it", frame)
        raise TimeUp(words)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeUp in the code inside after so many seconds; code that catches it twice ends the process.

    Only the main thread can be stopped, and only between two steps of Python; elsewhere nothing happens.
    """
    if math.isinf(seconds) or threading.current_thread() is not threading.main_thread():
        yield
        return

    begin, handler = time.monotonic(), signal.signal(signal.SIGALRM, _Alarm(seconds))
    left, every = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:  # of a timer that was set before
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - begin), 1e-6), every)


def time_is_limited() -> bool:
    """Whether a `time_limit()` is running."""
    return isinstance(signal.getsignal(signal.SIGALRM), _Alarm)


def is_contained() -> bool:
    """Whether any code is inside `contained()`."""
    return bool(_inside[0])


def leave(what: str, frame: FrameType | None) -> NoReturn:
    """Ends the process at once with exit code 2, and with words that name the line of the user's code."""
    lines = users_lines(traceback.walk_stack(frame)) if frame is not None else iter(())
    where = next((f"{os.path.relpath(file)}:{line}" for file, line in lines), "")
    fault = BloxError(what, where=where, fix="catch Exception, or less; never BaseException")
    with contextlib.suppress(OSError):
        os.write(2, f"error: {fault.text()}\n".encode(errors="replace"))
    _leave(2)


def by_signal(error: BaseException) -> bool:
    """Whether an exception is the answer to a signal, and not raised by the code that it came out of."""
    if not isinstance(error, KeyboardInterrupt | SystemExit):
        return False
    trace = error.__traceback__
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    if code.co_filename.startswith(_PACKAGE):  # a handler of ours
        return True
    # Python's own handler of Ctrl-C has no frame: it raises between two steps of the code, at no `raise`.
    return isinstance(error, KeyboardInterrupt) and code.co_code[trace.tb_lasti] != _RAISE


def _count_inside(change: int) -> None:
    """Runs of several threads may be inside at once: os._exit() is replaced while any is."""
    with _lock:
        _inside[0] += change
        os._exit = _refuse if _inside[0] else _leave
        _inside[1] = os.getpid()


def _refuse(status: int = 0) -> NoReturn:
    if os.getpid() != _inside[1]:  # a child that the code has forked
        _leave(status)
    raise ProcessEnd(f"os._exit({status})")


def _here() -> str:
    """The working directory; empty if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""
