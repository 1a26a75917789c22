"""The one exception that users meet: what is wrong, where, and how to mend it. Never a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class BloxError(Exception):
    """A mistake in the input: the command line prints it in one piece and exits with code 2.

    `where` names the place (file and line, option, policy); `fix` says what to do about it.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what, self.where, self.fix = what, where, fix
        super().__init__(self.text())

    def text(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n  fix: {self.fix}" if self.fix else ""
        return f"{place}{self.what}{advice}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.fix))


def _rebuild(cls: type[BloxError], what: str, where: str, fix: str) -> BloxError:
    return cls(what, where=where, fix=fix)


def sought(path: str) -> str:
    """Where a relative path was looked for, to be told with a file that is not there."""
    if path.startswith(("/", "~")):
        return ""
    return f"; looked in {Path.cwd()}: paths, also those in a TOML file, count from where you are"


def suggestion(word: str, valid: Iterable[str]) -> str:
    """Lists the valid words, the nearest one first as a question."""
    names = sorted(set(valid))
    small = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(word.lower(), small, n=1, cutoff=0.5)
    question = f"did you mean {small[near[0]]!r}? " if near else ""
    return f"{question}valid: {', '.join(names) if names else '(none)'}"
