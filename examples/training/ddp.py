"""DistributedDataParallel: one process per GPU, which leave together after the same iteration.

    blox submit --gpus 4 -- python examples/training/ddp.py --epochs 5

It takes NCCL where there are GPUs, gloo elsewhere. The five marked lines are all that blox needs.
"""

import argparse
import random
import time

import torch
from torch import distributed, nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from blox.client import BloxDataLoader  # 1

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--pause-s", type=float, default=0.02, help="makes an iteration last longer")
parser.add_argument("--jitter-s", type=float, default=0.0, help="random delay of every rank, at most")
parser.add_argument("--exact", action="store_true", help="the same sums, to the bit, after a restart")
options = parser.parse_args()

distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
rank, delays = distributed.get_rank(), random.Random()
torch.manual_seed(0)
torch.set_num_threads(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
inputs = torch.randn(960, 20)
targets = torch.tanh(inputs[:, :4].sum(1, keepdim=True))
dataset = TensorDataset(torch.arange(960), inputs, targets)
data = DataLoader(dataset, batch_size=12, sampler=DistributedSampler(dataset))
network = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1)).to(device)
# Behind its first iteration DistributedDataParallel groups gradients anew, and other groups are summed in
# another order, unless it looks for parameters that are not used.
model = nn.parallel.DistributedDataParallel(network, find_unused_parameters=options.exact)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
torch.manual_seed(rank)  # another dropout in every rank

loader = BloxDataLoader(data, {"model": model, "optimizer": optimizer}, every=20)  # 2
for epoch in loader.epochs(options.epochs):  # 3
    for samples, features, target in loader:  # 4
        time.sleep(options.pause_s + delays.uniform(0.0, options.jitter_s))
        loss = nn.functional.mse_loss(model(features.to(device)), target.to(device))
        optimizer.zero_grad()
        loss.backward()  # here the ranks meet
        optimizer.step()
        loader.metrics.push("loss", loss.item())  # 5
        print(f"epoch {epoch} iteration {loader.iteration} loss {loss.item()!r} samples {samples.tolist()}")
distributed.destroy_process_group()
