from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from blox.errors import BloxError
from blox.protocols import for_ever
from blox.registry import register
from blox.state.cluster import ClusterState
from blox.state.jobs import JobState
from blox.state.plan import NO_ROWS
from blox.workloads.limits import whole
from blox.workloads.table import Array


@register.termination("loss")
@dataclass(frozen=True)
class Loss:
    """Ends jobs whose loss falls no more, or has reached its target (paper, section 5.3).

    A job ends when its loss has not fallen by the share `threshold` (0.002: 0.2 %) within `patience` epochs,
    or, with `target`, when its loss is that or less: a target switches the threshold off. A job's own
    columns `loss_target` and `loss_threshold` go before both, the target first. Jobs report the metric
    `loss` and, if they count them, `epoch`; where they do not, every loss that differs from the last counts
    as an epoch. A job that reports nothing runs until its work is done. One that was set back, by a failure,
    is judged anew from there.

    The paper compares a loss with the lowest one, which is known only when the job is over; whether it still
    falls can be known while the job runs. With the default patience both come to the same: jobs of the
    generator (`--reports loss`) end within 0.2 % of their lowest loss.
    """

    threshold: float = 0.002
    target: float | None = None
    patience: int = 10

    reads_metrics: ClassVar[tuple[str, ...]] = ("loss",)

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise BloxError(f"threshold is {self.threshold:g}", fix="give a share: 0.002 is 0.2 %")
        whole("patience", self.patience, 1)

    def terminate(self, job_state: JobState, cluster_state: ClusterState) -> Array:
        loss = job_state.metric("loss")
        told = loss == loss  # not nan
        if not told.any():
            return NO_ROWS
        rows, loss, epoch = job_state.active[told], loss[told], job_state.metric("epoch")[told]
        target, threshold = self._limits(rows, job_state)
        seen = job_state.memory(self, _Seen)
        stale = seen.follow(rows, loss, epoch, threshold)
        ended: Array = rows[np.where(np.isnan(target), stale >= self.patience, loss <= target)]
        return ended

    stable_until = for_ever  # a report is an event

    def reason(self, rows: Array, job_state: JobState) -> list[str]:
        target, threshold = self._limits(rows, job_state)
        return [
            f"its loss fell by less than {100 * share:g} % in {self.patience} epochs"
            if value != value
            else f"its loss reached {value:g}"
            for value, share in zip(target.tolist(), threshold.tolist())
        ]

    def _limits(self, rows: Array, job_state: JobState) -> tuple[Array, Array]:
        """The target (nan: none) and the threshold of each job: its own, or else the policy's."""
        c = job_state.columns
        target, threshold = c.loss_target.take(rows), c.loss_threshold.take(rows)
        if self.target is not None:
            target[np.isnan(target) & np.isnan(threshold)] = self.target
        threshold[np.isnan(threshold)] = self.threshold
        return target, threshold


@dataclass
class _Seen:
    """What jobs have reported, by row: the last loss and epoch, the loss that has to be undercut, and for how
    many epochs it has not been."""

    table: Array = field(default_factory=lambda: np.empty((4, 0)))

    def follow(self, rows: Array, loss: Array, epoch: Array, threshold: Array) -> Array:
        """Takes new reports in; returns for how many epochs each loss has not fallen enough."""
        short = int(rows.max()) + 1 - self.table.shape[1]
        if short > 0:
            self.table = np.pad(self.table, ((0, 0), (0, max(short, 256))), constant_values=np.nan)
        last, at, best, stale = self.table[:, rows]
        counted = ~np.isnan(epoch)
        passed = np.where(counted & ~np.isnan(at), epoch - at, loss != last)
        first = np.isnan(last) | (counted & (epoch < at))
        fallen = loss < best - threshold * np.abs(best)
        anew = first | fallen
        best = np.where(anew, loss, best)
        stale = np.where(anew, 0.0, stale + passed)
        self.table[:, rows] = loss, epoch, best, stale
        return stale
