"""A script that does not know blox: upon SIGTERM it saves, and ends with exit code 75; numpy alone.

blox submit --preemption signal -- python examples/cluster/signalled.py
"""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)
inputs = rng.normal(size=(100, 16, 8))
targets = inputs @ rng.normal(size=8)
file = Path(os.environ.get("BLOX_CHECKPOINT", ".")) / "signalled.npz"
weights, done = np.zeros(8), 0
if file.exists():
    saved = np.load(file)
    weights, done = saved["weights"], int(saved["done"])

told = []
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
for step in range(done, 100):
    if told:
        half = file.with_name("half.npz")
        np.savez(half, weights=weights, done=step)
        half.replace(file)
        sys.exit(75)  # not finished: to be started again
    error = inputs[step] @ weights - targets[step]
    weights = weights - 0.02 * inputs[step].T @ error / 16
    print(f"iteration {step} loss {np.mean(error**2):.6f}")
    time.sleep(0.05)
