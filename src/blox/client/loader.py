"""BloxDataLoader: wraps any iterable; checks the lease at every iteration, and leaves when it is revoked.

All ranks of a job leave after the same iteration, with a checkpoint, and resume at the very sample where they
stopped.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, NoReturn, Protocol, TypeVar, runtime_checkable

from blox.client import randomness
from blox.client.checkpoint import Checkpoint, Position, Stateful
from blox.client.metrics import MetricsCollector
from blox.client.page import LeasePage
from blox.client.remaining import remaining
from blox.client.torch_data import samplers_of
from blox.cluster.protocol.rank import LEFT, at_boundary

T = TypeVar("T")
_WAIT_S = 0.002  # between two looks at the lease while the other ranks are told


@runtime_checkable
class Checkpointer(Protocol):
    """A checkpoint of one's own form. Both methods are called on every rank.

    `position` is a small dict of plain values (numbers, texts, bytes, tuples): to be kept with the rest.
    """

    def save(self, position: Position) -> None:
        """Writes a checkpoint, which is whole when this returns. OSError: it could not."""
        ...

    def load(self) -> Position | None:
        """Puts everything back and returns the position that was saved; None: there is no checkpoint."""
        ...


class BloxDataLoader(Generic[T]):
    """Iterates over `data` like `data` itself, from where the job stopped the last time.

        loader = BloxDataLoader(loader, {"model": model, "optimizer": optimizer})
        for epoch in loader.epochs(3):
            for features, target in loader:
                ...
                loader.metrics.push("loss", loss)

    `state`: what a checkpoint consists of, by name; or a Checkpointer. It is loaded at once. One is written
    every `every` iterations, when the job leaves, and at the end of `epochs`. Without a cluster there are
    checkpoints only where a `directory` is named, and nothing else happens than that data passes through.

    Iterating once is one pass. Passes that an earlier start of the job has completed are left out by
    `epochs`, and are empty in a loop of one's own. Where a sampler has `set_epoch`, it is called with the
    number of the pass. Ranks must meet (all-reduce) at least once per iteration.
    """

    def __init__(
        self,
        data: Iterable[T],
        state: Mapping[str, Stateful] | Checkpointer | None = None,
        *,
        every: int = 100,
        directory: str | os.PathLike[str] | None = None,
    ) -> None:
        if every < 1:
            raise ValueError(f"every is {every}: give a number of iterations, 1 or more")
        self._data, self._every = data, every
        self.epoch = self.batch = self.iteration = 0  # passes, batches of this pass, all: that are complete
        self._passes = 0  # that this process has begun
        self.rank, self.world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        path = os.environ.get("BLOX_LEASE", "")
        self._page = LeasePage(path) if path else None
        self.metrics = MetricsCollector()
        self._generators = randomness.generators_of(data)
        self._resume: Position | None = None  # until the pass in which the job stopped is begun
        self._pass_began: randomness.State = {}
        self._checkpoint = _checkpointer(state, directory)
        self._load()

    def epochs(self, count: int) -> Iterator[int]:
        """The numbers of the passes that are left of `count`. A checkpoint is written behind the last."""
        for number in range(self.epoch, count):
            self._passes = number
            yield number
        self._save()
        self.metrics.flush()

    def __iter__(self) -> Iterator[T]:
        number, self._passes = self._passes, self._passes + 1
        if number < self.epoch:
            return  # completed before
        if number > self.epoch:
            self.epoch, self.batch = number, 0  # the pass before was left early
        items, push, clock = self._begin_pass(), self.metrics.push_mean, time.perf_counter
        while True:
            self._boundary()
            began = clock()  # a checkpoint, or a wait for the lease, is no part of an iteration
            try:
                item = next(items)
            except StopIteration:
                break
            yield item
            self.batch += 1
            self.iteration += 1
            push("iteration_s", clock() - began)
        self.epoch, self.batch = number + 1, 0

    def __len__(self) -> int:
        """Batches of a whole pass."""
        return len(self._data)  # type: ignore[arg-type]

    def _load(self) -> None:
        found = None if self._checkpoint is None else self._checkpoint.load()
        if found is not None:
            self._resume = found
            self.epoch, self.batch, self.iteration = found["epoch"], found["batch"], found["iteration"]
        self._saved = self.iteration
        if self._page is not None:
            self._page.iteration = self._page.checkpoint = self.iteration

    def _begin_pass(self) -> Iterator[T]:
        """What is left of a pass. Everything random is drawn as it was when the pass was begun first."""
        resumed, self._resume = self._resume, None
        if resumed is not None and resumed["pass_began"]:
            randomness.restore(resumed["pass_began"], self._generators)
        self._pass_began = randomness.capture(self._generators)
        for sampler in samplers_of(self._data):
            set_epoch = getattr(sampler, "set_epoch", None)
            if set_epoch is not None:
                set_epoch(self.epoch)

        def primed() -> None:
            if resumed is not None:
                randomness.restore(resumed["randomness"], self._generators)

        return remaining(self._data, self.batch, primed)

    def _boundary(self) -> None:
        """An iteration is complete and the next has not begun."""
        iteration, page = self.iteration, self._page
        if iteration % self._every == 0:
            self._save(leave_out_failures=True)
        if page is None:
            return
        page.iteration = iteration
        step = at_boundary(self.rank, self.world, iteration, page)
        while step == "wait":
            time.sleep(_WAIT_S)
            step = at_boundary(self.rank, self.world, iteration, page)
        if step == "leave":
            self._leave()

    def _leave(self) -> NoReturn:
        self._save()
        with contextlib.suppress(OSError):
            self.metrics.flush()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(LEFT)  # at once: destructors of a process group would wait for the other ranks

    def _save(self, *, leave_out_failures: bool = False) -> None:
        """Writes a checkpoint, unless that of this iteration is there. One on the way may fail: the disk may
        have room again before the job leaves."""
        if self._checkpoint is None or self.iteration <= self._saved:
            return
        try:
            self._checkpoint.save(
                {
                    "epoch": self.epoch,
                    "batch": self.batch,
                    "iteration": self.iteration,
                    "pass_began": self._pass_began,
                    "randomness": randomness.capture(self._generators),
                }
            )
        except OSError as error:
            print(f"blox: no checkpoint of iteration {self.iteration}: {error}", file=sys.stderr, flush=True)
            if leave_out_failures:
                return
            raise
        self._saved = self.iteration
        if self._page is not None:
            self._page.checkpoint = self.iteration


def _checkpointer(state: Any, directory: str | os.PathLike[str] | None) -> Checkpointer | None:
    place = directory or os.environ.get("BLOX_CHECKPOINT", "")
    if isinstance(state, Mapping):
        if not place:
            return None
        Path(place).mkdir(parents=True, exist_ok=True)
        return Checkpoint(state, Path(place))
    if state is None or isinstance(state, Checkpointer):
        return state
    what = type(state).__name__
    raise TypeError(f"state is a {what}: give a dict of objects, or an object with save and load")
