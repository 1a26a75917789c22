"""A training script of one process that can be preempted and moved: linear regression, whose loss falls.

    blox submit -- python examples/cluster/plain.py --epochs 5

The five lines that make it a job of blox are marked. It also runs without a cluster.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

from blox.client import BloxDataLoader  # 1

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--iteration-s", type=float, default=0.02, help="how long an iteration takes at least")
options = parser.parse_args()

rng = np.random.default_rng(0)
inputs = rng.normal(size=(100, 16, 8))  # 100 batches of 16 samples
truth = rng.normal(size=8)
batches = [(each, each @ truth) for each in inputs]
weights = np.zeros(8)

checkpoint = Path(os.environ.get("BLOX_CHECKPOINT", ".")) / "plain.npz"  # 2
start = 0
if checkpoint.exists():
    saved = np.load(checkpoint)
    weights, start = saved["weights"], int(saved["iteration"])


def save(iteration):  # 3
    half = checkpoint.with_name("half.npz")
    np.savez(half, weights=weights, iteration=iteration)
    half.replace(checkpoint)


loader = BloxDataLoader(batches, save=save, start=start, epochs=options.epochs, every=25)  # 4
for features, target in loader:
    error = features @ weights - target
    weights = weights - 0.02 * features.T @ error / len(target)
    loss = float(np.mean(error**2))
    loader.metrics.push("loss", loss)  # 5
    print(f"iteration {loader.iteration} loss {loss!r}")
    time.sleep(options.iteration_s)
