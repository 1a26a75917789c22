"""A replay whose processes are stopped and continued at random: `python FILE SEED FOLDER`.

In a process of its own, so that a test can end it when it hangs. Prints a line for every rule that is broken,
and `fine` if none is.
"""

import contextlib
import random
import sys
import threading
from pathlib import Path

import numpy as np
import psutil

from blox import Experiment
from blox.cluster.replay import replay

SPEEDUP = 50.0
ROUND_S = 50.0  # one real second: a process that starts within it gets something done, also on a busy machine
JOBS = 8
GRACE_S = 2.0  # long enough for a process to answer on a busy machine
LONGEST_STOP_S = 3.0  # longer than the grace period: some are killed for not answering


def processes() -> list[psutil.Process]:
    """The ranks of all jobs and their guards."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            words = process.cmdline()
            if any(word.endswith(("jobs/sleep.py", "shell/guard.py")) for word in words):
                found.append(process)
    return sorted(found, key=lambda each: each.pid)


def stop_at_random(rng: random.Random, over: threading.Event) -> None:
    while not over.is_set():
        alive = processes()
        if alive:
            chosen = rng.choice(alive)
            with contextlib.suppress(psutil.Error):
                chosen.suspend()
                over.wait(rng.uniform(0.0, LONGEST_STOP_S if rng.random() < 0.2 else 0.3))
                chosen.resume()
        over.wait(rng.uniform(0.0, 0.3))


def trace(rng: random.Random, folder: Path) -> str:
    lines = ["job_id,submit_s,gpus,duration_s"]
    for job in range(JOBS):
        submit, gpus, duration = rng.uniform(0, 150), rng.choice((1, 1, 2)), rng.uniform(20, 150)
        lines.append(f"{job},{submit:.1f},{gpus},{duration:.1f}")
    (folder / "jobs.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "jobs.csv")


def faults(result) -> list[str]:
    """What is wrong: jobs that are lost or ended twice, work that was not done, GPUs held by two."""
    found, jobs = [], result.jobs
    if len(jobs["job_id"]) != JOBS or set(jobs["state"].tolist()) != {"finished"}:
        found.append(f"states {jobs['state'].tolist()}")
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
    scheduler = rng.choice(("las", "srtf", "fifo"))
    experiment = Experiment(workload=trace(rng, folder), cluster="1x3", scheduler=scheduler, round_s=ROUND_S)
    over = threading.Event()
    thread = threading.Thread(target=stop_at_random, args=(rng, over), daemon=True)
    thread.start()
    try:
        found = faults(replay(experiment, SPEEDUP, job="sleep", grace_s=GRACE_S))
    finally:
        over.set()
        thread.join()
    if left := processes():
        found.append(f"processes are left: {left}")
    print("\n".join(found) or "fine")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), Path(sys.argv[2])))
