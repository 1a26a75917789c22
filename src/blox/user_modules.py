"""Modules of users' files: how they are named, and how such a file imports the modules beside it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

USER_MODULE = "blox_user_"  # how the names of modules begin that are loaded from a user's file

_user_folders: set[str] = set()  # of files that parts were loaded from
_known_before: set[str] = set()  # modules that were imported when the last of them was loaded


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
