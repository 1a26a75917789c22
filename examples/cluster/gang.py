"""Data-parallel training of several processes that leave together when they are preempted; numpy alone.

    blox submit --gpus 4 -- python examples/cluster/gang.py --epochs 2

Every rank works on its share of each batch; a Reducer sums the gradients. With PyTorch,
DistributedDataParallel takes its place (examples/training/ddp.py). The global batch is the same for any
number of ranks, so the job can also be resized (`--min-gpus 1 --max-gpus 4`).
"""

import argparse
import random
import time

import numpy as np

from blox.client import BloxDataLoader, Reducer

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--iteration-s", type=float, default=0.02)
parser.add_argument("--jitter-s", type=float, default=0.0, help="random delay of every rank, at most")
options = parser.parse_args()


class Model:
    weights = np.zeros(8)

    def state_dict(self):
        return self.weights.tolist()

    def load_state_dict(self, state):
        self.weights = np.array(state)


rng = np.random.default_rng(0)
inputs = rng.normal(size=(60, 16, 8))
truth = rng.normal(size=8)
batches = [(each, each @ truth) for each in inputs]
model, reducer, delays = Model(), Reducer(), random.Random()
rank, world = reducer.rank, reducer.world

loader = BloxDataLoader(batches, {"model": model}, every=20)
for epoch in loader.epochs(options.epochs):
    for features, target in loader:
        mine = slice(rank * len(target) // world, (rank + 1) * len(target) // world)
        error = features[mine] @ model.weights - target[mine]
        time.sleep(options.iteration_s + delays.uniform(0.0, options.jitter_s))
        total = reducer.sum(np.append(features[mine].T @ error, error @ error))
        model.weights = model.weights - 0.02 * total[:-1] / len(target)
        loss = float(total[-1]) / len(target)
        loader.metrics.push("loss", loss)
        print(f"epoch {epoch} iteration {loader.iteration} loss {loss!r} of {world}")
