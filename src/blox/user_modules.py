"""Modules of users' files and of installed packages that provide parts: how they are told from all others,
and how such a file imports the modules beside it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from types import FrameType

USER_MODULE = "blox_user_"  # how the names of modules begin that are loaded from a user's file
PART_GROUP = "blox."  # how the groups of entry points begin by which packages provide parts

_user_folders: set[str] = set()  # of files that parts were loaded from
_known_before: set[str] = set()  # modules that were imported when the last of them was loaded


def users_lines(frames: Iterable[tuple[FrameType, int]]) -> Iterator[tuple[str, int]]:
    """File and line of those frames, given with their lines, that run code of a user or of a package that
    provides parts."""
    packages = {
        entry.module.partition(".")[0]
        for distribution in metadata.distributions()
        for entry in distribution.entry_points
        if entry.group.startswith(PART_GROUP)
    }
    for frame, line in frames:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(USER_MODULE) or module.partition(".")[0] in packages:
            yield frame.f_code.co_filename, line


def make_siblings_known(file: Path) -> None:
    """Lets a user's file import modules beside it, as they are now.

    Its folder comes behind everything installed, so that no file there takes the place of a library, and
    before the folders of other such files. What those have imported from their folders is forgotten.
    """
    folder = str(file.resolve().parent)
    places = [path for path in sys.path if path != folder]
    at = next((place for place, path in enumerate(places) if path in _user_folders), len(places))
    sys.path[:] = [*places[:at], folder, *places[at:]]
    _user_folders.add(folder)
    now = {name.partition(".")[0] for name in sys.modules}
    siblings = {name for name in now - _known_before if _is_sibling(name)} if _known_before else set()
    for name in [name for name in sys.modules if name.partition(".")[0] in siblings]:
        del sys.modules[name]
    _known_before.update(now - siblings)
    importlib.invalidate_caches()


def _is_sibling(name: str) -> bool:
    """Whether a module was imported from the folder of a user's file: `name.py`, or a package `name`."""
    if name.startswith(USER_MODULE):
        return False
    origin = Path(getattr(sys.modules.get(name), "__file__", None) or "/")
    package = origin.stem == "__init__" and origin.parent.name == name
    return str(origin.parent.parent if package else origin.parent) in _user_folders
