"""What is known about models and GPU generations: the tables in `profiles/`, or tables of your own.

Durations hold for GPUs of the reference type, which is also what GPUs without a type are taken for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from blox.errors import BloxError
from blox.state.cluster_spec import DEFAULT_TYPE, ClusterSpec
from blox.workloads.text_files import read_cells

_OWN = Path(__file__).parent.parent / "profiles"
_BITS_PER_PARAMETER = 32
_MODELS = ("model", "aliases", "parameters_m", "largest_share", "step_ms", "source")
_GPUS = ("gpu", "speed", "node_gbps")
_ANY = "*"
REFERENCE = "v100"  # the GPU type that durations of traces and generators hold for


@dataclass(frozen=True)
class ModelProfile:
    """A neural network: gradient size, the share of its largest tensor, and seconds per step on a V100."""

    name: str
    gigabits: float
    largest_share: float
    step_s: float


@dataclass(frozen=True)
class Generation:
    """A kind of GPU: training speed relative to a V100, Gb/s between two of them in a node."""

    name: str
    speed: float
    node_gbps: float


@dataclass(frozen=True)
class Profiles:
    """What is known about models and GPU generations, and what stands in for those that are not known."""

    models: dict[str, ModelProfile]
    generations: dict[str, Generation]

    def model(self, name: str) -> ModelProfile:
        """The profile of a model by any spelling of its name; the default one if there is none."""
        return self.models.get(_plain(name), self.models[_ANY])

    def knows(self, gpu_type: str) -> bool:
        """Whether a GPU type contains the name of a generation, or is none in particular."""
        return gpu_type == DEFAULT_TYPE or self.generation(gpu_type).name != _ANY

    def generation(self, gpu_type: str) -> Generation:
        """The generation whose name a GPU type contains; the row * if there is none."""
        for name, found in self.generations.items():
            if name in gpu_type.lower():
                return found
        return self.generations[_ANY]

    def of_cluster(self, spec: ClusterSpec, reference: str = REFERENCE) -> list[Generation]:
        """The generation of each GPU type of a cluster, which gives speeds and links of its own, or none.

        GPUs without a type are of the reference type; links count by their mean bandwidth. A type of which no
        speed is known is refused.
        """
        check_types(spec.gpu_types, dict(spec.speeds), self, where=f"cluster {spec.text!r}")
        unit, given, found = self.generation(reference).speed, dict(spec.speeds), []
        for kind in spec.gpu_types:
            known = self.generation(reference if kind == DEFAULT_TYPE else kind)
            links = [gbps for row in spec.links.get(kind, ()) for gbps in row if gbps > 0]
            gbps = sum(links) / len(links) if links else known.node_gbps
            speed = given[kind] * unit if kind in given else known.speed
            found.append(Generation(known.name, speed, gbps))
        return found


def check_types(
    gpu_types: Iterable[str],
    given: Mapping[str, float],
    profiles: Profiles,
    measured: Iterable[str] = (),
    *,
    where: str,
) -> None:
    """Refuses GPU types of which no speed is given, measured or known, with the way to give one."""
    for name in gpu_types:
        if name not in given and name not in measured and not profiles.knows(name):
            known = sorted({*measured, *(kind for kind in profiles.generations if kind != _ANY)})
            raise BloxError(
                f"no speed is known for GPUs of type {name!r}",
                where=where,
                fix=f"known: {', '.join(known)}; or say how fast it is, a {REFERENCE} being 1: "
                f"{name}=NODESxGPUS:speed=3.1 (in a cluster file, speed = 3.1 under [[nodes]])",
            )


@lru_cache(maxsize=16)
def profiles_from(models_csv: str = "", gpus_csv: str = "") -> Profiles:
    """The tables of two files; blox's own where none is given. Errors name file and line."""
    models_file, gpus_file = Path(models_csv or _OWN / "models.csv"), Path(gpus_csv or _OWN / "gpus.csv")
    models: dict[str, ModelProfile] = {}
    for where, cells in _rows(models_file, _MODELS):
        parameters_m, share, step_ms = _numbers(
            cells, _MODELS, ("parameters_m", "largest_share", "step_ms"), where
        )
        if share > 1:
            raise BloxError(f"largest_share is {share:g}", where=where, fix="it is a share: at most 1")
        profile = ModelProfile(cells[0], parameters_m * _BITS_PER_PARAMETER / 1000, share, step_ms / 1000)
        for name in (cells[0], *filter(None, cells[1].split("|"))):
            models[_ANY if name == _ANY else _plain(name)] = profile
    generations: dict[str, Generation] = {}
    for where, cells in _rows(gpus_file, _GPUS):
        speed, gbps = _numbers(cells, _GPUS, ("speed", "node_gbps"), where)
        generations[cells[0].lower()] = Generation(cells[0], speed, gbps)
    for table, file in ((models, models_file), (generations, gpus_file)):
        if _ANY not in table:
            raise BloxError("no row *", where=str(file), fix="add one for what has no row of its own")
    return Profiles(models, generations)


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """A model's name by its letters and digits: `ResNet-18 (batch size 64)` is `resnet18`."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"\(.*?\)", "", name.lower()))


def _rows(file: Path, columns: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    """The rows of a CSV with these columns, each with its place; lines that begin with # are comments."""
    rows = read_cells(file, fix="give a CSV of profiles")
    for position, (number, cells) in enumerate(rows):
        if len(cells) != len(columns) or (not position and tuple(cells) != columns):
            raise BloxError(
                f"{','.join(cells)!r} has other columns",
                where=f"{file}:{number}",
                fix=f"columns: {','.join(columns)}",
            )
    return [(f"{file}:{number}", cells) for number, cells in rows[1:]]


def _numbers(cells: list[str], columns: tuple[str, ...], wanted: tuple[str, ...], where: str) -> list[float]:
    values = []
    for name in wanted:
        text = cells[columns.index(name)]
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 < value < float("inf"):
            raise BloxError(f"{name} is {text!r}", where=where, fix=f"{name} must be a number above 0")
        values.append(value)
    return values
