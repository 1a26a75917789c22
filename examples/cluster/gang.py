"""Data-parallel training of several processes that leave together when they are preempted.

    blox submit --gpus 4 -- python examples/cluster/gang.py --epochs 2

Every rank works on its share of each batch; gradients are summed over sockets at rank 0. For a real model,
DistributedDataParallel (NCCL, gloo) takes the place of `Ring`. The global batch is the same for any number
of ranks, so the job can also be resized (`--min-gpus 1 --max-gpus 4`).
"""

import argparse
import os
import random
import time
from multiprocessing.connection import Client, Listener
from pathlib import Path

import numpy as np

from blox.client import BloxDataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--iteration-s", type=float, default=0.02)
parser.add_argument(
    "--jitter-s", type=float, default=0.0, help="random delay of every rank in every iteration"
)
options = parser.parse_args()
rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


class Ring:
    """Sums arrays over all ranks, in order of rank. Rank 0 listens where the environment says."""

    def __init__(self):
        address = os.environ.get("MASTER_ADDR", "127.0.0.1"), int(os.environ.get("MASTER_PORT", 29500))
        self._peers = []
        if rank == 0 and world > 1:
            with Listener(address, backlog=world) as listener:
                peers = [listener.accept() for _ in range(world - 1)]
            self._peers = [peer for _, peer in sorted((each.recv(), each) for each in peers)]
        elif rank:
            self._peers = [self._connect(address)]
            self._peers[0].send(rank)

    @staticmethod
    def _connect(address):
        for _ in range(600):
            try:
                return Client(address)
            except ConnectionRefusedError:
                time.sleep(0.05)
        raise SystemExit("rank 0 does not answer")

    def sum(self, array):
        if rank:
            self._peers[0].send(array)
            return self._peers[0].recv()
        total = sum((peer.recv() for peer in self._peers), start=array)
        for peer in self._peers:
            peer.send(total)
        return total


rng = np.random.default_rng(0)
inputs = rng.normal(size=(60, 16, 8))
truth = rng.normal(size=8)
batches = [(each, each @ truth) for each in inputs]
weights = np.zeros(8)
checkpoint = Path(os.environ.get("BLOX_CHECKPOINT", ".")) / "gang.npz"
start = 0
if checkpoint.exists():
    saved = np.load(checkpoint)
    weights, start = saved["weights"], int(saved["iteration"])


def save(iteration):
    half = checkpoint.with_name("half.npz")
    np.savez(half, weights=weights, iteration=iteration)
    half.replace(checkpoint)


ring = Ring()
loader = BloxDataLoader(batches, save=save, start=start, epochs=options.epochs, every=20)
for features, target in loader:
    mine = slice(rank * len(target) // world, (rank + 1) * len(target) // world)
    error = features[mine] @ weights - target[mine]
    time.sleep(options.iteration_s + random.uniform(0.0, options.jitter_s))
    gradient = ring.sum(features[mine].T @ error)
    weights = weights - 0.02 * gradient / len(target)
    print(f"iteration {loader.iteration} weights {weights.sum():.12f} of {world}")
