"""Reducer: sums arrays over the ranks of a job, for training scripts that use numpy alone.

A script that uses torch has torch.distributed for this (gloo, NCCL).
"""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

_PATIENCE_S = 300.0  # for rank 0 to listen, which may still be importing
_AGAIN_S = 0.05


class Reducer:
    """Every rank makes one, at its start. Rank 0 listens where `MASTER_ADDR` and `MASTER_PORT` say.

    Sums are taken in order of rank, so that they are the same to the bit on every rank and in every run.
    """

    def __init__(self) -> None:
        self.rank, self.world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        address = os.environ.get("MASTER_ADDR", "127.0.0.1"), int(os.environ.get("MASTER_PORT", 29500))
        self._peers: list[Any] = []
        if self.rank:
            self._peers = [_connected(address)]
            self._peers[0].send(self.rank)
        elif self.world > 1:
            with Listener(address, backlog=self.world) as listener:
                peers = [listener.accept() for _ in range(self.world - 1)]
            self._peers = [peer for _, peer in sorted(((each.recv(), each) for each in peers), key=_rank_of)]

    def sum(self, array: Any) -> Any:
        """The sum of what all ranks give. Returns when all have given theirs."""
        if self.rank:
            self._peers[0].send(array)
            return self._peers[0].recv()
        total = sum((peer.recv() for peer in self._peers), start=array)
        for peer in self._peers:
            peer.send(total)
        return total


def _rank_of(peer: tuple[int, Connection]) -> int:
    return peer[0]


def _connected(address: tuple[str, int]) -> Connection:
    until_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return Client(address)
        except ConnectionRefusedError:
            if time.monotonic() > until_s:
                raise
            time.sleep(_AGAIN_S)
