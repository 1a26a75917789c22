"""The artifact's time: at every tick all jobs train for one interval, on the nodes that they have had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import ClassVar

import numpy as np

from blox.backends.simulation import NO_TIMES, Simulation
from blox.compat.pollux.training import Application, Training
from blox.errors import BloxError, suggestion
from blox.performance.goodput_interference import interfering
from blox.placement.walk.pinned import held_by_node
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS, Allocation
from blox.workloads.pollux_profiles import applications_beside
from blox.workloads.table import Array, JobTable
from blox.workloads.text_files import user_path

OWN_BATCH = {"ncf": 32768}  # the artifact fixes the batch size of this application also under Pollux


@dataclass
class Trainings:
    """The jobs in training, by row: the simulator advances them and tells schedulers of them."""

    of: dict[int, Training] = field(default_factory=dict)
    applications: dict[str, Application] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "Trainings()"


class Ticks(Simulation):
    """The backend that advances trainings from wake-up to wake-up. There is nothing to be passed over."""

    def _begin(self) -> None:
        performance = self._performance
        assert isinstance(performance, Measured)
        self._truth = performance
        self._since = 0.0
        self._done: dict[int, float] = {}  # rows that are done, and when
        performance.trainings.of.clear()

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Everybody trains until now."""
        begin, elapsed = self._since, job_state.now - self._since
        self._since = job_state.now
        running = np.sort(cluster_state.allocation.jobs)
        if not elapsed or not len(running):
            return
        slowed = np.zeros(len(running), dtype=bool)
        if self._truth.interference:
            slowed = interfering(held_by_node(running, cluster_state, job_state))
        columns = job_state.columns
        for row, slow in zip(running.tolist(), slowed.tolist()):
            training = self._truth.trainings.of[row]
            after = training.advance(elapsed, self._truth.interference if slow else 0.0)
            share = training.progress / training.application.progress[-1]
            columns.done0[row] = share * self._work_s[row]
            if after is not None:
                self._done[row] = begin + after

    def completed(self, cluster_state: ClusterState, job_state: JobState) -> tuple[Array, Array | float]:
        if not self._done:
            return NO_ROWS, NO_TIMES
        rows = sorted(self._done)
        ends = np.array([self._done.pop(row) for row in rows])
        return np.array(rows, dtype=np.int64), ends

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        nodes, end = cluster_state.gpu_node[grants.gpus].tolist(), 0
        for row, count in zip(grants.jobs.tolist(), grants.counts.tolist()):
            there = nodes[end : end + count]
            end += count
            self._truth.trainings.of[row].reallocate(tuple(len(list(each)) for _, each in groupby(there)))
        return 0.0, job_state.now

    def suspend(self, rows: Array, job_state: JobState) -> None:
        for row in rows.tolist():
            self._truth.trainings.of[row].reallocate(())

    def next_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        return job_state.now if cluster_state.allocation.size else self._feed.next_submission

    def _learn(self, jobs: JobTable, rows: Array) -> None:
        super()._learn(jobs, rows)
        batches = jobs.column("batch_size").tolist()
        for i, row in enumerate(rows.tolist()):
            application = self._truth.application(str(jobs.column("model")[i]), jobs)
            own = OWN_BATCH.get(application.name)
            target = own if self._truth.tunes else int(batches[i])
            self._truth.trainings.of[row] = Training(application, target, self._truth.tunes)


@dataclass(frozen=True)
class Measured:
    """Jobs run as they were measured for the Pollux artifact.

    `folder` holds the measurements (default: `../applications`, seen from the workload's file). `tunes`: jobs
    choose their batch sizes. `interference`: what jobs that span nodes and share one lose of their speed.
    """

    trainings: Trainings
    folder: str = ""
    tunes: bool = False
    interference: float = 0.0

    simulation: ClassVar[Callable[..., Simulation]] = Ticks

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> float:
        """Not asked: `Ticks` advances jobs by itself."""
        return 0.0

    def application(self, name: str, jobs: JobTable) -> Application:
        """The measurements of an application; errors name those that are there."""
        known = self.trainings.applications
        if name not in known:
            source = user_path(jobs.source)
            folder = user_path(self.folder) if self.folder else applications_beside(source)
            if not (folder / name / "placements.csv").is_file():
                raise _not_measured(name, folder, jobs.source)
            known[name] = Application(folder / name)
        return known[name]


def _not_measured(name: str, folder: Path, source: str) -> BloxError:
    there = sorted(each.parent.name for each in folder.glob("*/placements.csv"))
    if there:
        return BloxError(
            f"the application {name!r} of {source} was not measured",
            where=f"folder of applications {folder}",
            fix=suggestion(name, there),
        )
    return BloxError(
        f"the application {name!r} was not measured: "
        + (
            "there is no such folder"
            if not folder.is_dir()
            else "the folder holds no <application>/placements.csv"
        ),
        where=f"folder of applications {folder}",
        fix="give a workload of the Pollux artifact (pollux:workload-1.csv), or to the preset as "
        f"applications=FOLDER the folder that holds {name or 'cifar10'}/placements.csv",
    )
