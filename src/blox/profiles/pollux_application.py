"""An application as the Pollux artifact measured it: the truth that its simulator runs on.

A folder per application: `placements.csv` and `scalability.csv` hold step times by placement and batch size,
`validation-<batch>.csv` what a real run at that total batch size did, epoch by epoch. Between measurements
everything is linear. Elastic jobs with models of our own are in `elastic`.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from blox.errors import BloxError
from blox.profiles.pollux_interpolation import piecewise_linear
from blox.workloads.pollux_files import Shape, figures, placements, validation_runs
from blox.workloads.table import Array

# The artifact caps the batch per GPU of yolov3 below the largest measured.
LARGEST_ATOMIC = {"yolov3": 8}
MOST_NODES = 16  # were measured; more count as so many
_TIMES = ("step_time", "sync_time")
_RUN = ("progress", "iteration", "metric", "grad_sqr", "grad_var")


class PolluxApplication:
    """Step times, gradient statistics and progress of one application; `folder` is where it was measured.

    Raises BloxError where files are absent or broken, and where a placement lies beyond all measured ones.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        shapes, columns = placements(folder, "local_bsz", *_TIMES)
        self._curves: dict[tuple[int, ...], list[tuple[float, ...]]] = {}
        for shape, *point in zip(shapes, *columns):
            self._curves.setdefault(normalised(shape), []).append(tuple(point))
        self.measured = {shape: np.array(sorted(points)).T for shape, points in self._curves.items()}
        self.runs = validation_runs(folder, *_RUN)
        self.batch_sizes = sorted(self.runs)
        self.epochs = min(len(run["progress"]) for run in self.runs.values())
        largest = int(columns[0].max())
        self.atomic_range = int(columns[0].min()), LARGEST_ATOMIC.get(self.name, largest)

    @property
    def initial_batch(self) -> int:
        return self.batch_sizes[0]

    @property
    def largest_batch(self) -> int:
        return self.batch_sizes[-1]

    def times(self, placement: Array, atomic: float) -> tuple[float, float]:
        """Seconds of a step and of its synchronisation, at GPUs per node and batch per GPU and pass.

        A measured placement, or a rotation of one, is interpolated along the batch; any other in nodes,
        GPUs and batch at once.
        """
        shape = normalised(placement)
        if shape in self.measured:
            step, sync = _along(self.measured[shape], atomic)
            return step, sync
        nodes = min(len(shape), MOST_NODES)
        step, sync = np.ravel(self._between(nodes, sum(shape), atomic)).tolist()
        if not step > 0:
            raise BloxError(
                f"no measurement around {len(shape)} nodes, {sum(shape)} GPUs, batch {atomic:g} per GPU",
                where=str(self.folder),
                fix="use placements and batch sizes within the measured ones",
            )
        return step, sync

    def gradient(self, batch: float, epoch: int) -> tuple[float, float]:
        """Squared norm and variance of the gradient in an epoch (from 0), at a total batch size."""
        return self._at("grad_sqr", batch, epoch), self._at("grad_var", batch, epoch)

    def iterations(self, batch: float, epoch: int) -> float:
        """Iterations at the end of an epoch (from 0) in a run at a total batch size."""
        return self._at("iteration", batch, epoch)

    def progress(self, epochs: int) -> float:
        """Iterations at the initial batch size that `epochs` epochs take: of the runs, the least."""
        return min(float(run["progress"][epochs - 1]) for run in self.runs.values()) if epochs else 0.0

    def best_metric(self, batch: float, epochs: int) -> float | None:
        """The best value of the application's own metric after `epochs` epochs; None before the first."""
        if not epochs:
            return None
        runs = [self.runs[size]["metric"] for size in self.batch_sizes]
        falls = runs[0][-1] < runs[0][0]  # error rates and losses; accuracies rise
        values = [run[:epochs].min() if falls else run[:epochs].max() for run in runs]
        return float(np.interp(batch, self.batch_sizes, values))

    def _at(self, name: str, batch: float, epoch: int) -> float:
        """Linear between the two measured batch sizes around it, by the artifact's own formula."""
        sizes = self.batch_sizes
        above = min(bisect_left(sizes, batch), len(sizes) - 1)
        high = float(self.runs[sizes[above]][name][epoch])
        if sizes[above] <= batch or above == 0:
            return high
        low = float(self.runs[sizes[above - 1]][name][epoch])
        width = sizes[above] - sizes[above - 1]
        return ((batch - sizes[above - 1]) * high + (sizes[above] - batch) * low) / width

    @cached_property
    def _between(self) -> Any:
        """Piecewise linear in (nodes, GPUs, batch per GPU), over the means of equal ones."""
        equal: dict[tuple[float, ...], list[tuple[float, ...]]] = {}
        for shape, points in self._curves.items():
            for batch, *times in points:
                equal.setdefault((len(shape), sum(shape), batch), []).append(tuple(times))
        # The points lie on a grid, where simplices are a matter of taste: the artifact's order of points is
        # kept, so that its own are found.
        means = {where: np.mean(equal[where], axis=0) for where in sorted(equal)}
        file = self.folder / "scalability.csv"
        if file.is_file():
            names = ("num_nodes", "num_replicas", "local_bsz", *_TIMES)
            for *where, step, sync in zip(*figures(file, *names)):
                means[tuple(where)] = np.array([step, sync])
        return piecewise_linear(np.array(list(means), dtype=np.float64), np.array(list(means.values())))


def _along(curve: Array, atomic: float) -> list[float]:
    """Step and sync time on a measured placement, linear in the batch; at a measured one from below."""
    batches, times = curve[0], curve[1:]
    high = min(max(int(np.searchsorted(batches, atomic)), 1), len(batches) - 1)
    low = high - 1
    if not batches[0] <= atomic <= batches[-1]:  # beyond what was measured: what was measured last
        return [float(np.interp(atomic, batches, each)) for each in times]
    slope = (times[:, high] - times[:, low]) / (batches[high] - batches[low])
    found: list[float] = (slope * (atomic - batches[low]) + times[:, low]).tolist()
    return found


def normalised(placement: Array | list[int] | Shape) -> tuple[int, ...]:
    """GPUs per node without empty nodes, in the smallest of its rotations."""
    held = [int(gpus) for gpus in placement if gpus]
    return min((tuple(held[i:] + held[:i]) for i in range(len(held))), default=())
