"""BloxDataLoader: wraps any iterable; checks the lease at every iteration, and leaves when it is revoked.

All ranks of a job leave after the same iteration, with a checkpoint, and resume at the very sample where they
stopped.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from blox.client.metrics import MetricsCollector
from blox.client.page import LeasePage
from blox.cluster.protocol.rank import at_boundary

T = TypeVar("T")
LEFT = 75  # the exit code of a rank that left after a checkpoint
_WAIT_S = 0.002  # between two looks at the lease while the other ranks are told


class BloxDataLoader(Generic[T]):
    """Iterates over epochs of `data`, from where the job stopped the last time.

    `save(iteration)` writes a checkpoint, on rank 0 only; it must be whole when it returns. `iteration` is
    the number of iterations that the checkpoint contains: give it back as `start` when the job starts again.
    Without a cluster nothing is checked, and checkpoints are written every `every` iterations alone.

    The same epoch must give the same samples in the same order when it is iterated again: `set_epoch`, if the
    sampler of `data` has it, is called with the number of the epoch.
    """

    def __init__(
        self,
        data: Iterable[T],
        *,
        save: Callable[[int], Any],
        start: int = 0,
        epochs: int = 1,
        every: int = 100,
    ) -> None:
        self._data, self._save, self._epochs, self._every = data, save, epochs, every
        self.iteration = start  # iterations that are complete
        self.rank, self.world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        path = os.environ.get("BLOX_LEASE", "")
        self._page = LeasePage(path) if path else None
        self.metrics = MetricsCollector()
        self._saved = start
        if self._page is not None:
            self._page.iteration = self._page.checkpoint = start

    def __iter__(self) -> Iterator[T]:
        skipped = self.iteration  # of earlier stints
        passed = 0
        for epoch in range(self._epochs):
            set_epoch = getattr(getattr(self._data, "sampler", None), "set_epoch", None)
            if set_epoch is not None:
                set_epoch(epoch)
            for item in self._data:
                passed += 1
                if passed <= skipped:
                    continue
                self._boundary()
                began = time.perf_counter()
                yield item
                self.iteration += 1
                self.metrics.push("iteration_s", time.perf_counter() - began)
        self._boundary_at_end()

    def _boundary(self) -> None:
        """An iteration is complete and the next has not begun."""
        page = self._page
        if page is not None:
            page.iteration = self.iteration
        if self.iteration % self._every == 0 and self.iteration > self._saved:
            self._checkpoint()
        if page is None:
            return
        step = at_boundary(self.rank, self.world, self.iteration, page)  # type: ignore[arg-type]
        while step == "wait":
            time.sleep(_WAIT_S)
            step = at_boundary(self.rank, self.world, self.iteration, page)  # type: ignore[arg-type]
        if step == "leave":
            self._leave()

    def _boundary_at_end(self) -> None:
        if self._page is not None:
            self._page.iteration = self.iteration
        if self.iteration > self._saved:
            self._checkpoint()
        self.metrics.flush()

    def _leave(self) -> None:
        if self.iteration > self._saved:
            self._checkpoint()
        self.metrics.flush()
        sys.stdout.flush()
        os._exit(LEFT)  # at once: destructors of a process group would wait for the other ranks

    def _checkpoint(self) -> None:
        if self.rank == 0:
            self._save(self.iteration)
            if self._page is not None:
                self._page.checkpoint = self.iteration
        self._saved = self.iteration
