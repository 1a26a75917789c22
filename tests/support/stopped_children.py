"""A run on the process backend whose children are stopped and continued at random: `python FILE SEED FOLDER`.

In a process of its own, so that a test can end it when it hangs. Prints a line for every rule that is broken,
and `fine` if none is.
"""

import contextlib
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from blox import Experiment
from blox.backends import children

SPEEDUP = 300.0
ROUND_S = 30.0  # a tenth of a real second
JOBS = 8


def stop_at_random(rng: random.Random, over: threading.Event) -> None:
    """Stops children and continues them a little later; some are left to be killed as not answering."""
    me = psutil.Process()
    while not over.is_set():
        alive = sorted(me.children(), key=lambda child: child.pid)
        if alive:
            pid = rng.choice(alive).pid
            send(pid, signal.SIGSTOP)
            if rng.random() < 0.8:
                time.sleep(rng.uniform(0.0, 0.4))
                send(pid, signal.SIGCONT)
        over.wait(rng.uniform(0.0, 0.2))


def send(pid: int, signum: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signum)


def trace(rng: random.Random, folder: Path) -> str:
    lines = ["job_id,submit_s,gpus,duration_s"]
    for job in range(JOBS):
        submit, gpus, duration = rng.uniform(0, 90), rng.choice((1, 1, 2)), rng.uniform(20, 150)
        lines.append(f"{job},{submit:.1f},{gpus},{duration:.1f}")
    (folder / "jobs.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "jobs.csv")


def faults(result) -> list[str]:
    """What is wrong: jobs that are lost or ended twice, work that was not done, GPUs held by two."""
    found, jobs = [], result.jobs
    if len(jobs["job_id"]) != JOBS or set(jobs["state"].tolist()) != {"finished"}:
        found.append(f"states {jobs['state'].tolist()}")
    # Not run_s: while a child is told to stop and does not answer, it works on and the round stands still.
    short = jobs["finish_s"] - jobs["first_start_s"] < jobs["duration_s"] - 0.02 * SPEEDUP
    if short.any():
        found.append(f"jobs {np.flatnonzero(short).tolist()} ended before their work was done")
    order = np.lexsort((result.stints["start_s"], result.stints["gpu"]))
    gpu, start, end = (result.stints[name][order] for name in ("gpu", "start_s", "end_s"))
    if ((gpu[1:] == gpu[:-1]) & (start[1:] < end[:-1] - 1e-6)).any():
        found.append("a GPU is held by two jobs at once")
    if int(result.summary["finished"]) != JOBS:
        found.append(f"{result.summary['finished']} jobs finished")
    return found


def main(seed: int, folder: Path) -> int:
    rng = random.Random(seed)
    children._PATIENCE_S = 2.0  # long enough for a child to start on a busy machine
    experiment = Experiment(
        workload=trace(rng, folder),
        cluster="1x3",
        scheduler=rng.choice(("las", "srtf", "fifo")),
        round_s=ROUND_S,
        clock=rng.choice(("rounds", "rounds", "events")),
        backend=f"process:speedup={SPEEDUP:g}",
    )
    over = threading.Event()
    thread = threading.Thread(target=stop_at_random, args=(rng, over), daemon=True)
    thread.start()
    try:
        found = faults(experiment.run())
    finally:
        over.set()
        thread.join()
        for child in psutil.Process().children():
            send(child.pid, signal.SIGCONT)
    print("\n".join(found) or "fine")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2])))
