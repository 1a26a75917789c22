"""Life: what happens to jobs in a round, as the manager tells its recorder. From it come the records to be
saved.

A recorder of a simulation keeps everything for the figures at its end; this one hands over what it has noted
after every round, and keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from blox.recording.recorder import Recorder
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.node_events import NodeEvent
from blox.state.plan import Allocation, Plan
from blox.workloads.table import Array

FINISHED = "finished"  # how a job ends whose work is done
PREEMPTED = "preempted"
STARTED = "started"  # what a node reports; all other entries are decisions
Note = tuple[int, str, tuple[int, ...]]


class Life(Recorder):
    """(row, what happened, on which GPUs), in order, until taken."""

    def __init__(self, why: dict[int, str]) -> None:
        """`why`: what interrupted a row, as the backend knows it."""
        super().__init__()
        self._why = why
        self.noted: list[Note] = []
        self.ends: dict[int, str] = {}  # rows that have ended: why

    def take(self) -> tuple[list[Note], dict[int, str]]:
        noted, ends = self.noted, self.ends
        self.noted, self.ends = [], {}
        return noted, ends

    def admitted(self, rows: Array, now: float) -> None:
        self._note(rows, "admitted")

    def ended_early(self, rows: Array, reasons: Iterable[str]) -> None:
        self.ends.update(zip(rows.tolist(), reasons))

    def finished(self, rows: Array, at: Array | float, was_running: Array | None) -> None:
        for row in rows.tolist():
            self.noted.append((row, self.ends.setdefault(row, FINISHED), ()))

    def withdrawn(self, row: int, why: str) -> None:
        """A job that was never admitted has ended."""
        self.ends[row] = why
        self.noted.append((row, why, ()))

    def evicted(self, rows: Array, at: float, now: float, event: NodeEvent | None) -> None:
        announced = event is not None and event.announced
        for row in rows.tolist():
            self.noted.append((row, "sent away" if announced else self._why.pop(row, "lost its node"), ()))

    def node_changed(self, event: NodeEvent) -> None:
        """The state of nodes is kept elsewhere."""

    def round(self, cluster_state: ClusterState, job_state: JobState) -> None:
        """Rounds are kept elsewhere."""

    def changed(self, plan: Plan, cluster_state: ClusterState, job_state: JobState) -> None:
        self._note(plan.suspend, PREEMPTED)
        self._placed(plan.launch, "placed", cluster_state)
        self._placed(plan.move, "moved", cluster_state)

    def _placed(self, grants: Allocation, what: str, cluster_state: ClusterState) -> None:
        for row, gpus in grants.as_dict().items():
            nodes = sorted({cluster_state.node_name[cluster_state.gpu_node[gpu]] for gpu in gpus})
            self.noted.append((row, f"{what} on {', '.join(nodes)}", gpus))

    def _note(self, rows: Array, what: str) -> None:
        self.noted += [(row, what, ()) for row in rows.tolist()]
