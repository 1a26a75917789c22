"""The artifact's time: at every tick all jobs train for one interval, on the nodes that they have had."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import ClassVar

import numpy as np

from blox.backends.interval import IntervalSimulation
from blox.backends.setup import BackendSetup
from blox.compat.pollux.training import Application, Training
from blox.errors import BloxError, suggestion
from blox.performance.goodput_interference import interfering
from blox.placement.walk.pinned import held_by_node
from blox.state import progress
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import Allocation
from blox.workloads.pollux_profiles import applications_beside
from blox.workloads.table import Array, JobTable
from blox.workloads.text_files import user_path

OWN_BATCH = {"ncf": 32768}  # the artifact fixes the batch size of this application also under Pollux


def trainings_of(job_state: JobState) -> dict[int, Training]:
    """The jobs in training, by row: the simulation advances them, schedulers read them."""
    found: dict[int, Training] = job_state.memory("compat pollux", dict)
    return found


class TickSimulation(IntervalSimulation):
    """Advances trainings from wake-up to wake-up."""

    def __init__(self, setup: BackendSetup) -> None:
        super().__init__(setup)
        performance = self._performance
        assert isinstance(performance, Measured)
        self._truth = performance
        self._since = 0.0
        self._applications: dict[str, Application] = {}

    def collect(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """All running jobs train until now."""
        begin, elapsed = self._since, job_state.now - self._since
        self._since = job_state.now
        running = cluster_state.running
        if not elapsed or not len(running):
            return
        slowed = np.zeros(len(running), dtype=bool)
        if self._truth.interference:
            slowed = interfering(held_by_node(running, cluster_state, job_state))
        trainings = trainings_of(job_state)
        for row, slow in zip(running.tolist(), slowed.tolist()):
            training = trainings[row]
            after = training.advance(elapsed, self._truth.interference if slow else 0.0)
            share = training.progress / training.application.progress[-1]
            progress.report(job_state, row, share * self._work_s.item(row), job_state.now)
            if after is not None:
                self._ends.put_one(row, begin + after)

    def launch(
        self, grants: Allocation, cluster_state: ClusterState, job_state: JobState
    ) -> tuple[Array | float, Array | float]:
        trainings = trainings_of(job_state)
        nodes, end = cluster_state.gpu_node[grants.gpus].tolist(), 0
        for row, count in zip(grants.jobs.tolist(), grants.counts.tolist()):
            there = nodes[end : end + count]
            end += count
            trainings[row].reallocate(tuple(len(list(each)) for _, each in groupby(there)))
        return super().launch(grants, cluster_state, job_state)

    def suspend(self, rows: Array, job_state: JobState) -> None:
        trainings = trainings_of(job_state)
        for row in rows.tolist():
            trainings[row].reallocate(())

    def _next_own_event(self, cluster_state: ClusterState, job_state: JobState) -> float:
        """Now: while jobs run, no tick is skipped."""
        return job_state.now if cluster_state.running_count else math.inf

    def _learn(self, jobs: JobTable, rows: Array, job_state: JobState) -> None:
        super()._learn(jobs, rows, job_state)
        trainings, batches = trainings_of(job_state), jobs.column("batch_size").tolist()
        for i, row in enumerate(rows.tolist()):
            application = self._application(str(jobs.column("model")[i]), jobs)
            own = OWN_BATCH.get(application.name)
            target = own if self._truth.tunes else int(batches[i])
            trainings[row] = Training(application, target, self._truth.tunes)

    def _application(self, name: str, jobs: JobTable) -> Application:
        """The measurements of an application; errors name those that are there."""
        known = self._applications
        if name not in known:
            source, given = user_path(jobs.source), self._truth.folder
            folder = user_path(given) if given else applications_beside(source)
            if not (folder / name / "placements.csv").is_file():
                raise _not_measured(name, folder, jobs.source)
            known[name] = Application(folder / name)
        return known[name]


@dataclass(frozen=True)
class Measured:
    """Jobs run as they were measured for the Pollux artifact.

    `folder` holds the measurements (default: `../applications`, seen from the workload's file). `tunes`: jobs
    choose their batch sizes. `interference`: what jobs that span nodes and share one lose of their speed.
    """

    folder: str = ""
    tunes: bool = False
    interference: float = 0.0

    simulation: ClassVar[type[TickSimulation]] = TickSimulation

    def rate(self, grants: Allocation, cluster_state: ClusterState, job_state: JobState) -> float:
        """Not asked: `TickSimulation` advances jobs by itself."""
        return 0.0


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
