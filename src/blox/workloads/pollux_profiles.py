"""How long a Pollux job takes alone, from the measurements of its application.

The Pollux artifact defines a job's work by progress: each epoch ends at a given sum of AdaScale gains. The
time to get there follows from the measured step time at the job's placement and batch size and from the
gradient statistics of that epoch. This module does that sum for a fixed batch size on packed nodes.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blox.errors import BloxError
from blox.workloads.pollux_files import Shape, figures, placements, validation_runs
from blox.workloads.table import Array

GPUS_PER_NODE = 4  # of the machines that the applications were measured on
MOST_GPUS = 64  # no more were measured
ON_ONE_GPU = ("ncf",)  # applications that the artifact's schedulers never spread

# The artifact caps the batch per GPU of yolov3 below the largest measured.
_LOCAL_BATCH_CAP = {"yolov3": 8}


@dataclass(frozen=True)
class IsolatedRun:
    """One job alone: seconds in all, and seconds per iteration."""

    duration_s: float
    iteration_s: float


class Application:
    """The measurements of one application: step times by placement, and runs at several batch sizes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self.curves = _step_curves(folder)
        self.runs = validation_runs(folder, "progress", "grad_sqr", "grad_var")
        smallest = min(x[0] for x, _, _ in self.curves.values())
        self.local_range = (
            smallest,
            _LOCAL_BATCH_CAP.get(self.name, max(x[-1] for x, _, _ in self.curves.values())),
        )
        self.epochs = min(len(run["progress"]) for run in self.runs.values())

    @property
    def batch_range(self) -> tuple[int, int]:
        """The smallest and the largest total batch size that was validated."""
        return min(self.runs), max(self.runs)

    @property
    def most_gpus(self) -> int:
        """GPUs that a job can use, as the artifact bounds them: each needs the smallest measured batch."""
        if self.name in ON_ONE_GPU:
            return 1
        return max(1, min(MOST_GPUS, int(self.batch_range[1] // self.local_range[0])))

    def isolated(self, gpus: int, batch: int) -> IsolatedRun:
        """The run of a job with a fixed number of GPUs, packed, and a fixed batch size."""
        initial = min(self.runs)
        per_gpu = math.ceil(batch / gpus)
        passes = math.ceil(per_gpu / self.local_range[1])
        if gpus == 1 and batch > initial:
            passes = max(passes, 2)
        # rounding up may not take the whole batch beyond the largest that was validated
        atomic = max(min(math.ceil(per_gpu / passes), max(self.runs) // (gpus * passes)), 1)
        whole = gpus * atomic * passes
        step, sync = self._times(gpus, atomic)
        iteration_s = step + (passes - 1) * (step - sync)
        scale = whole / initial
        sqr, var = self._statistic("grad_sqr", whole), self._statistic("grad_var", whole)
        gain = (var + sqr) / (var / scale + sqr)
        target = np.min([run["progress"][: self.epochs] for run in self.runs.values()], axis=0)
        iterations = np.diff(target, prepend=0.0) / gain
        return IsolatedRun(float(iterations.sum() * iteration_s), float(iteration_s))

    def _statistic(self, name: str, batch: int) -> Array:
        """Per epoch, linear in the batch size between the two measured ones around it."""
        sizes = sorted(self.runs)
        values = np.array([self.runs[size][name][: self.epochs] for size in sizes])
        return np.array([np.interp(batch, sizes, column) for column in values.T])

    def _times(self, gpus: int, atomic: int) -> tuple[float, float]:
        """Step and sync seconds, linear in the batch per GPU (and in the GPUs, where not measured)."""
        counts = np.array(sorted(self.curves))
        times = np.array(
            [[np.interp(atomic, x, y) for y in ys] for x, *ys in (self.curves[c] for c in counts.tolist())]
        )
        return float(np.interp(gpus, counts, times[:, 0])), float(np.interp(gpus, counts, times[:, 1]))


def applications_beside(workload: Path) -> Path:
    """Where the profiles of a workload's applications are by default: `../applications`, seen from it."""
    return Path(os.path.normpath(workload.parent / ".." / "applications"))


def applications_in(folder: Path) -> list[str]:
    """The names of the applications in a folder. Raises BloxError where there are none."""
    there = sorted(p.name for p in folder.iterdir() if p.is_dir()) if folder.is_dir() else []
    if not there:
        raise BloxError(
            "no application profiles here",
            where=str(folder.absolute()),
            fix="give the folder of applications: pollux:workload.csv?applications=PATH",
        )
    return there


def _step_curves(folder: Path) -> dict[int, tuple[Array, Array, Array]]:
    """By number of GPUs on packed nodes: batch per GPU (ascending), step seconds, sync seconds."""
    times = ("local_bsz", "step_time", "sync_time")
    shapes, columns = placements(folder, *times)
    measured: dict[int, list[tuple[float, float, float]]] = {}
    for shape, *point in zip(shapes, *columns):
        gpus = sum(shape)
        if shape == _packed(gpus):
            measured.setdefault(gpus, []).append((point[0], point[1], point[2]))
    if (folder / "scalability.csv").is_file():
        columns = figures(folder / "scalability.csv", "num_nodes", "num_replicas", *times)
        for nodes, gpus, *point in zip(*columns):
            if nodes == math.ceil(gpus / GPUS_PER_NODE):
                measured.setdefault(int(gpus), []).append((point[0], point[1], point[2]))
    if not measured:
        raise BloxError("no packed placement was measured", where=str(folder / "placements.csv"))
    return {gpus: tuple(np.array(sorted(points)).T) for gpus, points in measured.items()}


def _packed(gpus: int) -> Shape:
    """The placement on as few nodes as possible, as the measurements have it: the part-filled node first."""
    full, rest = divmod(gpus, GPUS_PER_NODE)
    return ((rest,) if rest else ()) + (GPUS_PER_NODE,) * full
