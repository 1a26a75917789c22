"""A job that goes on with another number of ranks: the global batch, and so the training, stays the same.

    blox submit --gpus 4 --min-gpus 1 --max-gpus 4 -- python examples/training/elastic.py

A scheduling policy that resizes jobs decides how many GPUs it has; examples/cluster/share.py is a small one.
A batch of 48 samples is cut into as many parts as there are ranks. The sampler deals samples out in turn, so
that iteration i trains on the same 48 samples whatever that number is.
"""

import argparse
import time

import torch
from torch import distributed, nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from blox.client import BloxDataLoader

GLOBAL_BATCH = 48

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--pause-s", type=float, default=0.02, help="makes an iteration last longer")
options = parser.parse_args()

distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
rank, world = distributed.get_rank(), distributed.get_world_size()
if GLOBAL_BATCH % world:
    raise SystemExit(f"{GLOBAL_BATCH} samples cannot be shared by {world} ranks")
torch.manual_seed(0)
torch.set_num_threads(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
inputs = torch.randn(960, 20)
targets = torch.tanh(inputs[:, :4].sum(1, keepdim=True))
dataset = TensorDataset(torch.arange(960), inputs, targets)
data = DataLoader(dataset, batch_size=GLOBAL_BATCH // world, sampler=DistributedSampler(dataset))
network = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1)).to(device)
model = nn.parallel.DistributedDataParallel(network)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

loader = BloxDataLoader(data, {"model": network, "optimizer": optimizer}, every=20)
for epoch in loader.epochs(options.epochs):
    for samples, features, target in loader:
        loss = nn.functional.mse_loss(model(features.to(device)), target.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach() / world
        distributed.all_reduce(mean)  # of the whole batch, for people to see
        loader.metrics.push("loss", mean.item())
        line = f"epoch {epoch} iteration {loader.iteration} loss {mean.item()!r} samples {samples.tolist()}"
        print(f"{line} rank {rank} of {world}")
        time.sleep(options.pause_s)
distributed.destroy_process_group()
