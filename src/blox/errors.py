"""The one exception that users meet: what is wrong, where, and how to mend it. Never a traceback."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Sequence
from pathlib import Path

LONGEST = 2000  # characters of a part of a message
MOST_NAMES = 200  # that are listed or compared as valid ones
LONGEST_NAME, MOST_FOUND = 80, 20  # characters of a name and names of a list that stand in the input


class BloxError(Exception):
    """A mistake in the input: the command line prints it in one piece and exits with code 2.

    `where` names the place (file and line, option, policy); `fix` says what to do about it.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what, self.where, self.fix = what, where, fix
        super().__init__(self.text())

    def text(self) -> str:
        """All three in one piece; a part that repeats a whole file of input is cut in its middle."""
        place = f"{shortened(self.where)}: " if self.where else ""
        advice = f"\n  fix: {shortened(self.fix)}" if self.fix else ""
        return f"{place}{shortened(self.what)}{advice}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.fix))


def shortened(text: str, most: int = LONGEST) -> str:
    """The text, or its beginning and its end where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    half = (most - 40) // 2
    return f"{text[:half]} ... ({len(text) - 2 * half:,} characters more) ... {text[-half:]}"


def found_name(name: str) -> str:
    """A name that was found in the input, cut in its middle where it is long."""
    return shortened(name, LONGEST_NAME)


def found_names(names: Sequence[str]) -> str:
    """Names that were found in the input, joined; long ones are cut, and of many the first are listed."""
    listed = [found_name(name) for name in names[:MOST_FOUND]]
    if len(names) > MOST_FOUND:
        listed.append(f"... ({len(names) - MOST_FOUND:,} more)")
    return ", ".join(listed)


def refusal(error: OSError) -> BloxError | None:
    """What the system refused, in words; None where a library raised it with words of its own."""
    if error.errno is None:
        return None
    place = str(error.filename) if error.filename is not None else ""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    fix = "make room on the disk" if full else "check the path, its permissions and the disk"
    return BloxError(error.strerror or str(error), where=place, fix=fix)


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
    small = {name.lower(): name for name in reversed(names[:MOST_NAMES])}
    near = difflib.get_close_matches(word[:100].lower(), small, n=1, cutoff=0.5)
    question = f"did you mean {found_name(small[near[0]])!r}? " if near else ""
    more = f", ... ({len(names) - MOST_NAMES:,} more)" if len(names) > MOST_NAMES else ""
    return f"{question}valid: {', '.join(names[:MOST_NAMES]) + more if names else '(none)'}"
