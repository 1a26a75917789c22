"""Writes the cases in `blox/` again: `python tests/golden/data/make_blox.py`, from the project's root.

The jobs are our own. The results are those of `tests/support/blox_replay.py`, which equals the public Blox
simulator on every run of `goldens/blox` (a test compares them).
"""

import csv
import random
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from support.blox_replay import replay_case  # noqa: E402

JOB = ("job_id", "arrival_s", "num_gpus", "total_iterations", "iteration_time_s", "duration_s")
CASE = (
    "run", "source", "jobs_csv", "policy", "load", "nodes", "gpus_per_node", "placement", "accept",
    "max_rounds", "track_start", "track_end", "preemptions",
)  # fmt: skip
RESULT = ("job_id", "arrival_s", "completion_s", "jct_s", "responsiveness_s", "preemptions")
MIXED = ("mixed", "3", "4")  # jobs, nodes, GPUs of each
# run, (jobs, nodes, GPUs of each), policy, load, placement, accept, max_rounds, first and last tracked id
RUNS = (
    ("blocked_Fifo_asis", ("blocked", "2", "4"), "Fifo", "", "asis", "", "", "0", "2"),
    ("blocked_Fifo_fixed", ("blocked", "2", "4"), "Fifo", "", "fixed", "", "", "0", "2"),
    ("starving_Srtf", ("starving", "1", "1"), "Srtf", "", "asis", "", "", "0", "1"),
    ("mixed_Fifo_fixed", MIXED, "Fifo", "", "fixed", "", "", "0", "59"),
    ("mixed_Fifo_asis", MIXED, "Fifo", "", "asis", "", "200", "0", "59"),
    ("mixed_Las_fixed", MIXED, "Las", "", "fixed", "", "", "10", "49"),
    ("mixed_Las_asis", MIXED, "Las", "", "asis", "", "", "0", "59"),
    ("mixed_Tiresias_fixed", MIXED, "Tiresias", "", "fixed", "", "", "10", "49"),
    ("mixed_Srtf_fixed", MIXED, "Srtf", "", "fixed", "", "", "0", "59"),
    ("mixed_Srtf_first100rounds", MIXED, "Srtf", "", "asis", "", "100", "0", "59"),
    ("mixed_Optimus_load4", MIXED, "Optimus", "4", "fixed", "", "", "0", "59"),
    ("mixed_Las_accept1.2", MIXED, "Las", "", "fixed", "1.2", "", "0", "59"),
)


def jobs_of(name):
    """(arrival, GPUs, seconds) of each job."""
    if name == "blocked":
        return [(0, 3, 500), (0, 2, 300), (10, 1, 300)]
    if name == "starving":
        return [(0, 1, 4_000_000), (100, 1, 4_500_000)]
    draw, arrival, found = random.Random(14), 0, []
    for _ in range(60):
        arrival += draw.choice((0, 60, 300, 450, 900, 1500))
        found.append(
            (arrival, draw.choice((1, 1, 1, 2, 2, 4, 8)), draw.choice((200, 300, 900.5, 2400, 7000, 20000)))
        )
    return found


def write(path, header, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def main():
    folder = HERE / "blox"
    for name in {run[1][0] for run in RUNS}:
        rows = [(i, at, gpus, s, 1, s) for i, (at, gpus, s) in enumerate(jobs_of(name))]
        write(folder / f"jobs_{name}.csv", JOB, rows)
    listed = []
    for run, (jobs, nodes, gpus), policy, load, placement, accept, most, first, last in RUNS:
        settings = (
            run,
            "replay",
            f"jobs_{jobs}.csv",
            policy,
            load,
            nodes,
            gpus,
            placement,
            accept,
            most,
            first,
            last,
        )
        ended = replay_case(dict(zip(CASE, settings)), folder)
        rows = [result_of(job) for job in ended if int(first) <= job.job_id <= int(last) and job.credited]
        write(folder / "results" / f"{run}.csv", RESULT, rows)
        listed.append((*settings, sum(job.preemptions for job in ended)))
    write(folder / "summary.csv", CASE, listed)


def result_of(job):
    end = "" if job.completion is None else job.completion
    jct = "" if job.completion is None else job.completion - job.arrival
    return job.job_id, job.arrival, end, jct, job.responsiveness, job.preemptions


if __name__ == "__main__":
    main()
