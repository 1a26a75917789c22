"""Brings a cluster up, runs ten jobs through two policies, shows what happened, and takes it down again."""

import sys
import time
from pathlib import Path

from blox.cluster import Timing, local_cluster

here = Path(__file__).parent
timing = Timing(round_s=4.0, heartbeat_s=0.5, lease_s=20.0, grace_s=10.0)  # a start takes less than a round


def script(name, *arguments):
    return [sys.executable, str(here / name), *arguments]


with local_cluster(nodes=2, gpus=2, scheduler="fifo", timing=timing) as cluster:
    print("up: 2 nodes x 2 GPU slots, FIFO")
    jobs = [cluster.submit(script("gang.py", "--epochs", "4"), gpus=3, name="gang")]
    jobs += [cluster.submit(script("plain.py", "--epochs", "2"), name=f"plain-{i}") for i in range(5)]
    time.sleep(6.0)
    print("from now on LAS: jobs that have received the least GPU time go first, and displace others")
    cluster.set_policies(scheduler="las")
    jobs += [cluster.submit(script("plain.py", "--epochs", "1"), name=f"late-{i}") for i in range(4)]
    for job in jobs:
        view = cluster.wait(job, 300.0)
        starts = f"{view.epoch} start{'s' if view.epoch > 1 else ''}"
        print(f"job {job:2} {view.name:8} {view.state} after {view.end_s - view.submit_s:5.1f} s, {starts}")
    print("the life of job 1:")
    for entry in cluster.events(1):
        print(f"  {entry.at_s:6.1f} s  {entry.what}")
    print("its losses, of the first iteration and the last:")
    losses = [line for line in cluster.log(1) if "loss" in line]
    print(f"  {losses[0]}\n  {losses[-1]}")
print("down")
