"""How sensitive models are to CPU cores and memory beside their GPUs: Synergy's profiles (OSDI'22).

Speeds are relative to the proportional share of a server (cores and memory of a server over its GPUs). The
tables are in `synergy_models.csv` and `synergy_speed.csv`, with their source; a table in the layout of the
original's own profiles can be read in place of the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from blox.errors import BloxError
from blox.workloads.table import Array
from blox.workloads.text_files import read_cells

FOLDER = Path(__file__).parent
ORIGINAL = ("model", "cpu_per_gpu", "mem_per_gpu_gb", "tput_rel_to_3cpu_62.5gb")
PROFILED_CORES = 3  # per GPU, of the servers on which speeds by cores and memory were measured


@dataclass(frozen=True)
class Want:
    """The least cores and memory (GB) per GPU with which a model is fastest, and how fast it then is."""

    cpu: float
    memory_gb: float
    speed: float


@dataclass(frozen=True)
class Demand:
    """The same for a job on servers of a given size: cores and memory (GB) in all."""

    cpu: float
    memory_gb: float
    speed: float


@dataclass(frozen=True, eq=False)
class Surface:
    """A model's speed by cores per GPU (ascending) and memory per GPU in GB (ascending)."""

    cpu: Array
    memory_gb: Array
    speed: Array  # cores x memory

    def at(self, cpu: float, memory_gb: float) -> float:
        """The speed with so much per GPU: linear between the points, level beyond them.

        Below the least number of cores it falls in proportion to them.
        """
        short = min(1.0, cpu / float(self.cpu[0])) if self.cpu[0] > 0 else 1.0
        low, part = _between(self.cpu, cpu)
        left, across = _between(self.memory_gb, memory_gb)
        near = self.speed[low : low + 2, left : left + 2]
        rows = near[:, 0] * (1.0 - across) + near[:, -1] * across
        return float(rows[0] * (1.0 - part) + rows[-1] * part) * short

    def points(self) -> list[tuple[float, float, float]]:
        """Every (cores, memory, speed) that was profiled."""
        return [
            (float(cpu), float(memory), float(self.speed[i, j]))
            for i, cpu in enumerate(self.cpu)
            for j, memory in enumerate(self.memory_gb)
        ]

    def least(self, cpu: float, memory_gb: float) -> Want:
        """The cheapest point that is as fast as any within so much per GPU; cores are dearer than memory."""
        inside = [p for p in self.points() if p[0] <= cpu and p[1] <= memory_gb]
        if not inside:
            return Want(cpu, memory_gb, self.at(cpu, memory_gb))
        top = max(speed for *_, speed in inside)
        cores, memory, speed = min(p for p in inside if p[2] >= top - 1e-9)
        return Want(cores, memory, speed)


def _between(axis: Array, value: float) -> tuple[int, float]:
    """The point at or below a value and the part of the way to the next one; level outside."""
    index = int(np.searchsorted(axis, value, side="right")) - 1
    if index < 0:
        return 0, 0.0
    if index >= len(axis) - 1:
        return len(axis) - 1, 0.0
    return index, float((value - axis[index]) / (axis[index + 1] - axis[index]))


@lru_cache(maxsize=8)
def surfaces(path: str = "") -> dict[str, Surface]:
    """Speeds by model: the project's own table, or a file of Synergy's profiles in their long form."""
    points: dict[str, dict[tuple[float, float], float]] = {}
    for model, cpu, memory, speed in _original(Path(path)) if path else _own():
        points.setdefault(model, {})[cpu, memory] = speed
    found = {}
    for model, speeds in points.items():
        cores, memories = (np.unique([key[axis] for key in speeds]) for axis in (0, 1))
        if len(speeds) != len(cores) * len(memories):
            raise BloxError(
                f"the profile of {model!r} is not complete", where=path, fix="give every core x memory point"
            )
        table = np.array([[speeds[c, m] for m in memories.tolist()] for c in cores.tolist()])
        found[model] = Surface(cores, memories, table)
    return found


def _own() -> list[tuple[str, float, float, float]]:
    header, *rows = _rows(FOLDER / "synergy_speed.csv")
    memories = [float(cell) for cell in header[2:]]
    return [
        (row[0], float(row[1]), memory, float(cell))
        for row in rows
        for memory, cell in zip(memories, row[2:])
    ]


def _original(path: Path) -> list[tuple[str, float, float, float]]:
    """The long form: one line per point; of profiles for several GPU counts, that for one GPU."""
    header, *rows = _rows(path)
    missing = [name for name in ORIGINAL if name not in header]
    if missing:
        raise BloxError(
            f"the column {missing[0]!r} is missing", where=str(path), fix=f"columns: {', '.join(ORIGINAL)}"
        )
    found = []
    for number, row in enumerate(rows, 2):
        cells, where = dict(zip(header, row)), f"{path}:{number}"
        if len(row) != len(header):
            raise BloxError(f"{len(row)} cells, {len(header)} wanted", where=where, fix="mend the line")
        if cells.get("profile_gpus", "1") != "1" or cells.get("cpu_gpu_ratio_set", "3") != "3":
            continue
        try:
            cpu, memory, speed = (float(cells[name]) for name in ORIGINAL[1:])
        except ValueError:
            raise BloxError(
                "not a line of a profile", where=where, fix=f"give {', '.join(ORIGINAL)}"
            ) from None
        if not all(0 < value < math.inf for value in (cpu, memory, speed)):
            raise BloxError(
                f"cores {cpu:g}, memory {memory:g} GB, speed {speed:g}",
                where=where,
                fix="each must be a number above 0",
            )
        found.append((cells["model"], cpu, memory, speed))
    return found


@lru_cache(maxsize=8)
def model_wants(cores_per_gpu: int = PROFILED_CORES) -> dict[str, Want]:
    """What each model wants per GPU, as profiled on servers with so many cores per GPU (3 to 6)."""
    header, *rows = _rows(FOLDER / "synergy_models.csv")
    found = {}
    for row in rows:
        cells = dict(zip(header, row))
        if int(cells["cores_per_gpu"]) == cores_per_gpu:
            want = Want(*(float(cells[name]) for name in ("cpu", "memory_gb", "speed")))
            found[cells["model"]] = want
    return found


def best_case(want: Want | None, gpus: int, node_gpus: int, node_cpu: float, node_memory_gb: float) -> Demand:
    """What a job of so many GPUs would have, and how fast it would be, by Synergy's rule.

    What exceeds a server is cut down to a server; or to the proportional share, at speed 1, for a job that
    needs several servers anyway. A job that was cut down is as much faster than at its proportional share as
    the cores say that it is left with: memory does not count.
    """
    fair_cpu, fair_memory = gpus * (node_cpu / node_gpus), gpus * (node_memory_gb / node_gpus)
    if want is None:
        return Demand(fair_cpu, fair_memory, 1.0)
    cpu, memory, speed = gpus * want.cpu, gpus * want.memory_gb, want.speed
    cut = cpu > node_cpu or memory > node_memory_gb
    if cut and gpus > node_gpus:
        cpu = fair_cpu if cpu > node_cpu else cpu
        memory = fair_memory if memory > node_memory_gb else memory
        return Demand(cpu, memory, 1.0)
    if cut:
        ideal, cpu = cpu, min(cpu, node_cpu)
        if ideal != fair_cpu:
            speed = 1 + (speed - 1) / (ideal - fair_cpu) * (cpu - fair_cpu)  # in the original's order
        return Demand(cpu, min(memory, node_memory_gb), speed)
    return Demand(cpu, memory, speed)


def _rows(path: Path) -> list[list[str]]:
    rows = [cells for _, cells in read_cells(path, fix="give a CSV of Synergy's profiles")]
    if not rows:
        raise BloxError("the file is empty", where=str(path), fix="give a CSV of Synergy's profiles")
    return rows
