"""Where results go: claimed by one process at a time, refused where anything else is kept.

The process that writes results to `x` holds `.x.blox-lock` beside it, from before the run until the report
is written; a folder of several runs has its `.blox-lock` inside. The next process to claim `x` finishes what
a killed one has left half done (`swap.py`).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from blox.disk.file_lock import FileLock, holder, lock_file
from blox.disk.whole_file import naming
from blox.errors import BloxError
from blox.locale_text import is_text, not_text
from blox.results.swap import beside, clear, finish_what_was_begun, is_ours, leftovers, leftovers_in, swap


@dataclass(frozen=True)
class Claim:
    """The right to write one results directory; `directory` is what the user calls it."""

    directory: Path
    place: Path  # where it is, links followed

    @contextlib.contextmanager
    def replacement(self) -> Iterator[Path]:
        """A new directory to write into, which at the end stands in place of the old one.

        When something goes wrong the old one stays as it was. What others have put there is kept.
        """
        draft = beside(self.place, "new")
        with naming(self.directory):
            draft.mkdir()
            try:
                yield draft
                if self.place.is_dir():  # one that was private stays so
                    draft.chmod(stat.S_IMODE(self.place.stat().st_mode) | stat.S_IRWXU)
                swap(draft, self.place)
            except BaseException:
                clear(draft)
                raise


@contextlib.contextmanager
def claimed(directory: str | Path) -> Iterator[Claim]:
    """Holds a results directory, which need not exist yet; another process is refused with words.

    Raises BloxError where anything but earlier results is kept there, or nothing can be written.
    """
    check_target(Path(directory))
    with holding(Path(directory)) as claim:
        check_target(claim.directory)  # once more: results may have been put back, or just been written
        yield claim


@contextlib.contextmanager
def holding(directory: Path) -> Iterator[Claim]:
    """Holds a results directory, whatever else is in it: to add a file, not to replace them all."""
    place = resolved(directory)
    with _held(_lock_of(place), directory):
        finish_what_was_begun(place)
        yield Claim(directory, place)


@contextlib.contextmanager
def claimed_folder(directory: Path) -> Iterator[None]:
    """Holds a folder of several runs, which is made if it is not there; runs in it are repaired."""
    place = resolved(directory)
    with _held(place / ".blox-lock", directory):
        for folder in (place, place / "runs"):
            for name in {match["name"] for match in leftovers_in(folder)}:
                _finish_if_free(folder / name)
        yield


def repair(directory: str | Path) -> None:
    """Puts earlier results back that a killed process has left under another name.

    Nothing happens where there are none, where the directory exists or where a process is writing there.
    """
    with contextlib.suppress(OSError, BloxError):
        place = resolved(Path(directory))
        if not place.exists() and leftovers(place):
            _finish_if_free(place)


def resolved(directory: Path) -> Path:
    """The path with all links followed. Raises BloxError for a loop of links, or a name that is no text."""
    if not is_text(str(directory)):
        raise not_text("the name", str(directory), where=str(directory))
    try:
        return directory.resolve()
    except (OSError, RuntimeError):
        raise BloxError(
            "the path leads in a circle of links", where=str(directory), fix="give another directory"
        ) from None


def check_target(target: Path) -> None:
    """Refuses to overwrite anything but earlier results, and what cannot be replaced as a whole."""
    place = resolved(target)
    if place.exists() and not place.is_dir():
        raise BloxError("there is a file of that name", where=str(target), fix="give a directory")
    if not place.is_dir():
        return
    if place in (Path.cwd(), *Path.cwd().parents) or os.path.ismount(place):
        why = "a disk is mounted there" if os.path.ismount(place) else "it is the one you are in"
        raise BloxError(
            f"the directory cannot be replaced: {why}",
            where=str(target),
            fix=f"give a directory in it, such as {target / 'run'}",
        )
    names = sorted(entry.name for entry in place.iterdir())
    strange = [name for name in names if not is_ours(place / name)]
    if not strange and not written_by_a_run(place):
        strange = names
    if strange:
        raise BloxError(
            f"the directory holds {strange[0]!r}, which is not from an earlier run",
            where=str(target),
            fix="give a new directory, or one that holds earlier results and nothing else",
        )


def written_by_a_run(directory: Path) -> bool:
    """Whether the directory's experiment.toml was written by a run, and not by hand."""
    experiment = directory / "experiment.toml"
    return experiment.is_file() and b"\n[provenance]\n" in experiment.read_bytes()


@contextlib.contextmanager
def _held(path: Path, directory: Path) -> Iterator[None]:
    """Holds a lock; folders that are missing are made, and removed again if they stay empty."""
    try:
        lock, made = _locked(path)
    except OSError as error:
        folder = path.parent
        file = next((each for each in (folder, *folder.parents) if each.exists() and not each.is_dir()), None)
        what = f"made: {file} is a file" if file else f"written: {folder} takes no files ({error.strerror})"
        raise BloxError(f"cannot be {what}", where=str(directory), fix="give another directory") from None
    if lock is None:
        raise BloxError(
            f"{holder(path)} is writing there",
            where=str(directory),
            fix="wait until it has ended, or give another directory",
        )
    try:
        yield
    finally:
        lock.release()
        _remove_empty(made)


def _locked(path: Path) -> tuple[FileLock | None, list[Path]]:
    """A lock, or None where another process holds it, and the folders that were made for it."""
    folder = path.parent
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    made = False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = True
        return lock_file(path), missing
    except OSError:
        if made and not folder.exists():
            return _locked(path)  # another process, which had made it, has just removed it
        _remove_empty(missing)
        raise


def _remove_empty(made: list[Path]) -> None:
    """Removes folders, innermost first, up to the first that holds something."""
    with contextlib.suppress(OSError):
        for folder in made:
            folder.rmdir()


def _finish_if_free(place: Path) -> None:
    """Finishes what a killed process has begun; what a living one is doing is left alone."""
    lock = lock_file(_lock_of(place))
    if lock is not None:
        try:
            finish_what_was_begun(place)
        finally:
            lock.release()


def _lock_of(place: Path) -> Path:
    return place.with_name(f".{place.name}.blox-lock")
