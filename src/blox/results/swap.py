"""Replacing a results directory in one go, and finishing what a killed process has left half done.

Beside a results directory `x` there may be, hidden: `.x.new-*`, results that are being written; `.x.old-*`,
the ones before, between two renames and until they are cleared away. Only the process that holds
`.x.blox-lock` (`place.py`) touches them.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path

from blox.results.files import OWN

_LEFTOVER = re.compile(r"\.(?P<name>.+)\.(?:blox-lock|(?P<kind>new|old)-[0-9a-f]{16})", re.DOTALL)
_DRAFT = re.compile(rf"\.({'|'.join(map(re.escape, OWN))})\.[0-9a-f]{{16}}\.part")


def swap(draft: Path, place: Path) -> None:
    """Puts `draft` where `place` is: afterwards the new one is there, or the old one as it was."""
    if not place.exists():
        os.replace(draft, place)
        return
    old = beside(place, "old")
    os.replace(place, old)
    try:
        os.replace(draft, place)
    except BaseException:
        os.replace(old, place)
        raise
    _retire(old, place)


def finish_what_was_begun(place: Path) -> None:
    """Restores and clears away what a killed process left of a save."""
    for kind, left in leftovers(place):
        if kind == "new":
            clear(left)
        elif place.exists():
            _retire(left, place)
        else:
            os.replace(left, place)


def _retire(old: Path, place: Path) -> None:
    """Removes results that have been replaced; files that others put there move to the new ones."""
    for entry in old.iterdir():
        if not is_ours(entry):
            os.replace(entry, _free_name(place / entry.name))
    clear(old)


def clear(folder: Path) -> None:
    """Removes our files and the folder, if nothing else is in it. What cannot be removed stays."""
    with contextlib.suppress(OSError):
        folder.chmod(0o700)  # it may have been made read-only
        for entry in folder.iterdir():
            if is_ours(entry):
                entry.unlink()
        folder.rmdir()


def _free_name(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}.{number}")
    return free


def is_ours(entry: Path) -> bool:
    """Whether a run has written it; a draft is of a run that was killed."""
    ours = entry.name in OWN or _DRAFT.fullmatch(entry.name) is not None
    return ours and (entry.is_file() or entry.is_symlink())


def beside(place: Path, kind: str) -> Path:
    """A hidden name in the same folder that cannot be foreseen."""
    return place.with_name(f".{place.name}.{kind}-{secrets.token_hex(8)}")


def leftovers(place: Path) -> list[tuple[str, Path]]:
    """What a killed process left beside a results directory: `old` or `new`, and the folder."""
    found = [(match["kind"], place.with_name(match[0])) for match in leftovers_in(place.parent, place.name)]
    return [(kind, folder) for kind, folder in found if folder.is_dir() and not folder.is_symlink()]


def leftovers_in(folder: Path, name: str | None = None) -> list[re.Match[str]]:
    """The hidden names in a folder, of one results directory or of all."""
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    matches = [match for match in map(_LEFTOVER.fullmatch, names) if match is not None]
    return [match for match in matches if name is None or match["name"] == name]
