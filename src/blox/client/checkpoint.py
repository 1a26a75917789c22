"""Checkpoint: objects with `state_dict()` and `load_state_dict()`, kept in a directory that outlives the job.

Models, optimizers, schedulers and gradient scalers of PyTorch are such objects. Rank 0 writes them; every
rank writes the state of its own random generators. A file is there whole or not at all.
"""

from __future__ import annotations

import os
import pickle
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

Position = dict[str, Any]


@runtime_checkable
class Stateful(Protocol):
    """What a checkpoint keeps."""

    def state_dict(self) -> Any: ...

    def load_state_dict(self, state: Any, /) -> Any: ...


class Checkpoint:
    """`objects` by their names; `directory` exists."""

    def __init__(self, objects: Mapping[str, Stateful], directory: Path) -> None:
        for name, each in objects.items():
            if not isinstance(each, Stateful):
                raise TypeError(
                    f"{name!r} is a {type(each).__name__} without state_dict() and load_state_dict(): "
                    "give models, optimizers and the like, or an object with save() and load() of your own"
                )
        self._objects, self._directory = objects, directory
        self.rank = int(os.environ.get("RANK", 0))

    def save(self, position: Position) -> None:
        """Writes a checkpoint. Raises OSError where that cannot be, and leaves the old one as it is."""
        _write(self._directory / f"rank-{self.rank}", position)
        if self.rank == 0:
            kept = {name: each.state_dict() for name, each in self._objects.items()}
            _write(self._directory / "state", {"position": position, "objects": kept})

    def load(self) -> Position | None:
        """Puts the objects back, and returns where the job was; None where there is no checkpoint."""
        found = _read(self._directory / "state")
        if found is None:
            return None
        for name, each in self._objects.items():
            each.load_state_dict(found["objects"][name])
        position: Position = found["position"]
        if self.rank:
            return self._own(position)
        return position

    def _own(self, position: Position) -> Position:
        """With the random generators as this rank has saved them in the same iteration. Those of a rank that
        is new since a resize, or was killed before it could, are derived from its number."""
        own: Position | None = _read(self._directory / f"rank-{self.rank}")
        if own is not None and own["iteration"] == position["iteration"]:
            return own
        drawn = random.Random(f"{position['iteration']} {self.rank}")
        randomness = {**position["randomness"], "python": drawn.getstate(), **_torch_seeded(drawn)}
        return {**position, "randomness": randomness}


def _torch_seeded(drawn: random.Random) -> dict[str, Any]:
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    generator = torch.Generator()
    generator.manual_seed(drawn.getrandbits(63))
    return {"torch": generator.get_state().numpy().tobytes()}


def _write(file: Path, value: Any) -> None:
    """Writes a file whole, or raises OSError and leaves nothing new behind: a full disk stays usable."""
    half = file.with_name(f"{file.name}.half")
    try:
        with open(half, "wb") as opened:
            _dump(value, opened)
            opened.flush()
            os.fsync(opened.fileno())
        half.replace(file)
    except OSError:
        half.unlink(missing_ok=True)
        raise


def _dump(value: Any, file: BinaryIO) -> None:
    torch = sys.modules.get("torch")
    if torch is None:
        pickle.dump(value, file)
        return
    try:
        torch.save(value, file)
    except RuntimeError as error:  # so torch tells that a write has failed
        raise OSError(f"torch cannot write {file.name}: {error}") from error


def _read(file: Path) -> Any:
    """None where there is no file."""
    torch = sys.modules.get("torch")
    try:
        with open(file, "rb") as opened:
            if torch is not None:
                return torch.load(opened, map_location="cpu", weights_only=True)
            return pickle.load(opened)  # a file of the job's own, in a directory of its own
    except FileNotFoundError:
        return None
