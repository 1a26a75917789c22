"""SharedAllocation: an allocation in which two jobs may stand on the same GPUs.

Everything else reckons with one owner per GPU: of two jobs that share, the ledger knows one. What that means
for jobs that leave is settled here, so that allocations without sharing pay nothing for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blox.state.ledger import Ledger
from blox.state.plan import Allocation
from blox.workloads.table import Array


class SharedAllocation(Allocation):
    """`share_group` is the row of the job that a job shares all its GPUs with; -1: it has them for itself."""

    def with_ledger(self, ledger: Ledger) -> SharedAllocation:
        grants: dict[str, Any] = {**self.grants()}
        used = int((ledger.owner >= 0).sum())
        twin = SharedAllocation(self.jobs, self.counts, self.gpus, used=used, blocked=self.blocked, **grants)
        twin.ledger = ledger
        return twin

    def without(self, rows: Array, bound: int) -> SharedAllocation:
        """Who shared with one of these has the GPUs for itself from now on."""
        ledger, self.ledger = self.ledger, None
        assert ledger is not None and self.share_group is not None
        stays = ~np.isin(self.jobs, rows)
        left = self.select(stays)
        of_gpus = np.repeat(stays, self.counts)
        ledger.release(rows, np.setdiff1d(self.gpus[~of_gpus], left.gpus))
        ledger.owner[left.gpus] = np.repeat(left.jobs, left.counts)
        ledger.look_again()
        partner = self.share_group[stays]
        grants: dict[str, Any] = {
            **left.grants(),
            "share_group": np.where(np.isin(partner, rows), -1, partner),
        }
        found = SharedAllocation(
            left.jobs, left.counts, left.gpus, used=len(np.unique(left.gpus)), blocked=self.blocked, **grants
        )
        found.ledger = ledger
        return found

    def gpus_of(self, job: int) -> Array:
        where = (self.jobs == job).nonzero()[0]
        stop = int(self.counts[: where[0] + 1].sum()) if len(where) else 0
        return self.gpus[stop - int(self.counts[where[0]]) : stop] if len(where) else self.gpus[:0]

    def unchanged(self, *, blocked: bool) -> Allocation:
        return self

    def beside(self, rows: Array) -> Array:
        """These jobs, and those who share GPUs with them, ascending."""
        assert self.share_group is not None
        also = self.jobs[np.isin(self.share_group, rows)]
        return np.union1d(rows, also)
