"""FreeGpus: which GPUs are free: all ids, the lowest ones, and how many on each node.

Two masks are stored, of the GPUs that no job holds and of those on closed nodes; all else is derived from
them on demand."""

from __future__ import annotations

import copy

import numpy as np

from blox.state.columns import SCALAR_MAX
from blox.workloads.table import Array


class FreeGpus:
    """GPUs that no job holds, on nodes that take jobs. Only Holdings takes them and gives them back."""

    def __init__(self, gpu_node: Array, node_gpus: Array) -> None:
        self._gpu_node, self._node_gpus = gpu_node, node_gpus
        self._unheld: Array = np.ones(len(gpu_node), dtype=bool)
        self._closed: Array | None = None  # mask: GPUs of nodes that take no jobs; None: all nodes do
        self._by_node: Array | None = None  # None: not computed

    def copy(self) -> FreeGpus:
        """An independent copy."""
        twin = copy.copy(self)
        twin._unheld = self._unheld.copy()
        return twin

    # -- changing --------------------------------------------------------------------------------------

    def give(self, gpus: Array) -> None:
        """Marks GPUs as held by no job."""
        self._unheld[gpus] = True
        self._by_node = None

    def take(self, gpus: Array) -> bool:
        """Marks GPUs as held. False: one does not exist, is not free or is given twice; then call `reset`."""
        self._by_node = None
        if len(gpus) <= SCALAR_MAX:
            unheld, closed = self._unheld, self._closed
            for gpu in gpus.tolist():
                if not 0 <= gpu < len(unheld) or not unheld[gpu] or (closed is not None and closed[gpu]):
                    return False
                unheld[gpu] = False
            return True
        unsigned = gpus.view(np.uint64)  # a negative id becomes a huge one
        if unsigned.item(unsigned.argmax()) >= len(self._unheld):
            return False
        if self._closed is not None and self._closed[gpus].any():
            return False
        free = np.count_nonzero(self._unheld)
        self._unheld[gpus] = False
        return bool(free - np.count_nonzero(self._unheld) == len(gpus))

    def reset(self, unheld: Array) -> None:
        """Sets the whole mask of GPUs that no job holds."""
        self._unheld[:] = unheld
        self._by_node = None

    def close(self, node_up: Array) -> None:
        """Excludes the GPUs of nodes that are not up; held GPUs stay held."""
        self._closed = None if node_up.all() else ~node_up[self._gpu_node]
        self._by_node = None

    # -- reading ---------------------------------------------------------------------------------------

    @property
    def mask(self) -> Array:
        """Mask by GPU: whether it is free. Do not change it."""
        return self._unheld if self._closed is None else self._unheld & ~self._closed

    def ids_with(self, given: Array) -> Array:
        """Free ids after `given` are released, ascending."""
        return self._mask_with(given).nonzero()[0]

    def lowest(self, count: int, given: Array) -> Array:
        """The `count` lowest ids of `ids_with(given)`, as a new array."""
        free = self._mask_with(given)
        return free.argmax(axis=0, keepdims=True) if count == 1 else free.nonzero()[0][:count].copy()

    def _mask_with(self, given: Array) -> Array:
        free = self._unheld
        if len(given):
            free = free.copy()
            free[given] = True
        return free if self._closed is None else free & ~self._closed

    @property
    def by_node(self) -> Array:
        """Number of free GPUs by node. Do not change it."""
        if self._by_node is None:
            ids = self.mask.nonzero()[0]
            self._by_node = np.bincount(self._gpu_node.take(ids), minlength=len(self._node_gpus))
        return self._by_node

    @property
    def largest(self) -> int:
        """The largest number of free GPUs on one node."""
        return int(self.by_node[self.by_node.argmax()])

    @property
    def idle(self) -> int:
        """Number of GPUs on nodes without a held GPU."""
        by_node = self.by_node
        return int(by_node[by_node == self._node_gpus].sum())
