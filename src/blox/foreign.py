"""Calls into users' own files and installed packages: in limited time, and what they raise in words.

Policies have a guard as well.

`entered()` stands around one call, `watched()` around a function, `watched_part()` around every method.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from blox.containment import (
    MORE_TIME,
    TimeUp,
    allowed_s,
    by_signal,
    contained,
    time_is_limited,
    time_limit,
)
from blox.errors import BloxError
from blox.user_modules import users_lines

T = TypeVar("T")


def is_foreign(part: object) -> bool:
    """Whether a part, a class or a function comes from a user's file or an installed package."""
    part = part.func if isinstance(part, functools.partial) else part
    named = part if isinstance(part, type) or (callable(part) and hasattr(part, "__name__")) else type(part)
    return str(named.__module__).partition(".")[0] != "blox"


@contextmanager
def entered(what: str, where: str = "") -> Iterator[None]:
    """Stands around `what`, a call into a user's file: contained, and in the time that is allowed here.

    Raises BloxError when the time is up. A call inside another one is part of that.
    """
    if time_is_limited():
        yield
        return
    try:
        with contained(), time_limit(allowed_s()):
            yield
    except TimeUp as error:
        raise BloxError(f"{what} gives {error}", where=_line(error) or where, fix=MORE_TIME) from None


def watched(function: Callable[..., T], name: str) -> Callable[..., T]:
    """A function, each call of which is `entered()` if it is of a user's file."""
    return _watched(function, name) if is_foreign(function) else function


def watched_part(part: T, *, unlimited: Iterable[str] = ()) -> T:
    """A part; one of a user's file with every method watched, but for those that may take any time."""
    return cast(T, _WatchedPart(part, frozenset(unlimited))) if is_foreign(part) else part


class _WatchedPart:
    """Passes attributes on, each method watched, also those that a class has from one of ours."""

    def __init__(self, part: Any, unlimited: frozenset[str]) -> None:
        self.part, self.unlimited = part, unlimited

    def __getattr__(self, name: str) -> Any:
        if name in ("part", "unlimited") or name.startswith("__"):
            raise AttributeError(name)
        if name in self.unlimited:
            return getattr(self.part, name)
        with entered(name):
            value = getattr(self.part, name)
        return _watched(value, name) if callable(value) and not isinstance(value, type) else value

    def __repr__(self) -> str:
        return repr(self.part)


def _watched(function: Callable[..., T], name: str) -> Callable[..., T]:
    @functools.wraps(function, updated=())
    def call(*arguments: Any, **options: Any) -> T:
        with entered(f"{name}()"):
            try:
                answer = function(*arguments, **options)
            except TypeError as error:
                if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                    raise _uncallable(function, name, error) from None  # its body was not reached
                raise
        return cast(T, _each(answer, name)) if isinstance(answer, Iterator) else answer

    return call


def _uncallable(function: Callable[..., Any], name: str, error: TypeError) -> BloxError:
    """A method of a user's file that does not take the arguments that it is given."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    place = f"{shown(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""
    return BloxError(
        f"{name}() cannot be called: {error}",
        where=place,
        fix="docs/writing-a-policy.md has its arguments; of a class, blox check FILE.py:CLASS says them",
    )


def _each(values: Iterator[T], name: str) -> Iterator[T]:
    """The same values; drawing one is a call."""
    while True:
        with entered(f"{name}()"):
            value = next(values, _END)
        if value is _END:
            return
        yield cast(T, value)


_END = object()


def user_fault(error: BaseException) -> BloxError | None:
    """The error as a BloxError with its line, if it came out of a user's file or an installed package that
    provides parts; None otherwise.

    What a signal raises there (Ctrl-C) is not theirs.
    """
    if by_signal(error):
        return None
    if not (place := _line(error)):
        return None
    return BloxError(f"{type(error).__name__}: {error}", where=place, fix="mend that line")


def _line(error: BaseException) -> str:
    """`file:line` where an exception left a user's code; empty if it came out of none."""
    lines = list(users_lines(traceback.walk_tb(error.__traceback__)))
    return "" if not lines else f"{shown(lines[-1][0])}:{lines[-1][1]}"


def shown(file: str) -> str:
    """A path as the user would write it: relative where that is shorter."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file
