"""A training script of one process that can be preempted and moved: linear regression with numpy alone.

    blox submit -- python examples/cluster/plain.py --epochs 5

The lines that make it a job of blox are marked. It also runs without a cluster. examples/training/ has the
same with PyTorch.
"""

import argparse
import time

import numpy as np

from blox.client import BloxDataLoader  # 1

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--iteration-s", type=float, default=0.02, help="how long an iteration takes at least")
options = parser.parse_args()


class Model:
    """Weights, and what a checkpoint keeps of them, as models of PyTorch say it."""

    weights = np.zeros(8)

    def state_dict(self):
        return self.weights.tolist()

    def load_state_dict(self, state):
        self.weights = np.array(state)


rng = np.random.default_rng(0)
inputs = rng.normal(size=(100, 16, 8))  # 100 batches of 16 samples
truth = rng.normal(size=8)
batches = [(each, each @ truth) for each in inputs]
model = Model()

loader = BloxDataLoader(batches, {"model": model}, every=25)  # 2
for epoch in loader.epochs(options.epochs):  # 3
    for features, target in loader:  # 4
        error = features @ model.weights - target
        model.weights = model.weights - 0.02 * features.T @ error / len(target)
        loss = float(np.mean(error**2))
        loader.metrics.push("loss", loss)  # 5
        print(f"epoch {epoch} iteration {loader.iteration} loss {loss!r}")
        time.sleep(options.iteration_s)
