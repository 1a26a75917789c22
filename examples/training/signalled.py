"""A PyTorch script that does not know blox: upon SIGTERM it saves, and ends with exit code 75.

    blox submit --preemption signal -- python examples/training/signalled.py --epochs 5

Any script that can be interrupted and resumed by its own means is a job in this way. It is told where its
checkpoints are by an option of its own, or by BLOX_CHECKPOINT.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--pause-s", type=float, default=0.02, help="makes an iteration last longer")
parser.add_argument("--checkpoints", type=Path, default=Path(os.environ.get("BLOX_CHECKPOINT", ".")))
options = parser.parse_args()

torch.manual_seed(0)
torch.set_num_threads(1)
inputs = torch.randn(1000, 20)
targets = torch.tanh(inputs[:, :4].sum(1, keepdim=True))
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
done = 0
file = options.checkpoints / "signalled.pt"
if file.exists():
    saved = torch.load(file)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    done = saved["done"]

told = []
signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
for iteration in range(done, options.epochs * 40):
    if told:
        half = file.with_suffix(".half")
        torch.save(
            {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "done": iteration}, half
        )
        half.replace(file)
        sys.exit(75)  # not finished: to be started again
    batch = slice(iteration % 40 * 25, iteration % 40 * 25 + 25)
    loss = nn.functional.mse_loss(model(inputs[batch]), targets[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"iteration {iteration} loss {loss.item()!r}")
    time.sleep(options.pause_s)
