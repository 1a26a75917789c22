"""An ordinary PyTorch script of one process. The five marked lines let blox preempt, move and resume it.

    blox submit -- python examples/training/plain.py --epochs 5

Without a cluster it runs as it is.
"""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from blox.client import BloxDataLoader  # 1

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--pause-s", type=float, default=0.02, help="makes an iteration last longer")
options = parser.parse_args()

torch.manual_seed(0)
torch.set_num_threads(1)
inputs = torch.randn(1000, 20)
targets = torch.tanh(inputs[:, :4].sum(1, keepdim=True))
data = DataLoader(TensorDataset(torch.arange(1000), inputs, targets), batch_size=25, shuffle=True)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

loader = BloxDataLoader(data, {"model": model, "optimizer": optimizer}, every=50)  # 2
for epoch in loader.epochs(options.epochs):  # 3
    for samples, features, target in loader:  # 4
        loss = nn.functional.mse_loss(model(features), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loader.metrics.push("loss", loss.item())  # 5
        print(f"epoch {epoch} iteration {loader.iteration} loss {loss.item()!r} samples {samples.tolist()}")
        time.sleep(options.pause_s)
