"""Makes the accounting log of a cluster that never was: what `sacct -P` and `sinfo` would print of it.

    python examples/accounting_log.py FOLDER [JOBS [NODES]]

Jobs are drawn like those of Microsoft's Philly trace, of five accounts, more by day than by night. Users ask
for more time than they need. The cluster, NODES nodes of 8 GPUs, ran them with EASY backfilling in the order
of their submission, and loses a node now and then. The same arguments give the same log.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from blox import Experiment
from blox.workloads.spec import draw, workload_from_spec
from blox.workloads.table import JobTable
from blox.workloads.writers import write_trace

BEGIN = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
ACCOUNTS = ("vision", "speech", "language", "robots", "teaching")
LIMITS_H = (1, 2, 4, 8, 12, 24, 48, 96, 168)  # what users like to ask for
HEAD = "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Timelimit|State|ReqTRES|AllocTRES"


def jobs_of(count: int, nodes: int) -> JobTable:
    """Jobs with accounts and time limits, at a load that the cluster can just take."""
    rng = np.random.default_rng(20)
    spec = f"philly:offered=0.86,gpus={8 * nodes},max_gpus={min(64, 4 * nodes)},jobs={count}"
    table = draw(workload_from_spec(spec), None, seed=20)
    length = np.maximum(table.columns["duration_s"].round(), 1)
    account = rng.choice(len(ACCOUNTS), len(table), p=(0.3, 0.2, 0.25, 0.15, 0.1))
    asked_h = np.minimum(length * rng.lognormal(1.0, 0.8, len(table)) / 3600 + 0.2, LIMITS_H[-1])
    limit_h = np.array(LIMITS_H).take(np.searchsorted(LIMITS_H, asked_h))
    length = np.minimum(length, 3600.0 * limit_h)  # a job that needs longer is ended
    columns = {
        **table.columns,
        "submit_s": _by_day(table.columns["submit_s"]).round(),
        "duration_s": length,
        "limit_s": 3600.0 * limit_h,
        "tenant": np.array(ACCOUNTS, dtype=object)[account],
        "user": np.array(
            [f"{ACCOUNTS[a][:2]}{u}" for a, u in zip(account, rng.integers(1, 9, len(table)))], dtype=object
        ),
    }
    del columns["model"], columns["job_type"]
    return dataclasses.replace(table, columns=columns)


def _by_day(submit_s: np.ndarray) -> np.ndarray:
    """The same arrivals, twice as dense in the afternoon as at night."""
    turn = 2 * np.pi * (submit_s / 86400 - 0.125)
    return submit_s + 0.33 * 86400 / (2 * np.pi) * (np.sin(turn) + np.sin(0.25 * np.pi))


def write_log(folder: Path, count: int, nodes: int) -> None:
    table = jobs_of(count, nodes)
    with tempfile.TemporaryDirectory() as place:
        trace = Path(place) / "jobs.csv"
        trace.write_text(write_trace(table).text)
        real = Experiment(
            workload=str(trace), cluster=f"{nodes}x8", placement="consolidated", scheduler="backfill",
            belief="limit", clock="events", failures="mtbf=180d,repair=12h", overheads="launch=20", seed=20,
        ).run()  # fmt: skip
    jobs = real.jobs
    lines = [HEAD]
    for row in range(len(table)):
        if np.isnan(jobs["finish_s"][row]):
            continue
        submit, start, end = (
            (BEGIN + timedelta(seconds=round(float(jobs[name][row])))).strftime("%Y-%m-%dT%H:%M:%S")
            for name in ("submit_s", "first_start_s", "finish_s")
        )
        gpus, limit_h = int(jobs["gpus"][row]), int(table.columns["limit_s"][row] // 3600)
        limit = f"{limit_h // 24}-{limit_h % 24:02}:00:00" if limit_h >= 24 else f"{limit_h:02}:00:00"
        full = jobs["duration_s"][row] >= table.columns["limit_s"][row]
        tres = f"billing={8 * gpus},cpu={8 * gpus},gres/gpu={gpus},mem={64 * gpus}G,node={-(-gpus // 8)}"
        who = f"{table.columns['user'][row]}|{table.columns['tenant'][row]}|gpu|normal"
        state = "TIMEOUT" if full else "COMPLETED"
        lines.append(f"{1000 + row}|{who}|{submit}|{submit}|{start}|{end}|{limit}|{state}|{tres}|{tres}")
    (folder / "sacct.txt").write_text("\n".join(lines) + "\n")
    (folder / "sinfo.txt").write_text(f"NODELIST|GRES|CPUS|MEMORY\ngpu[001-{nodes:03}]|gpu:8|64|524288\n")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[2:]] or [4000]
    write_log(Path(sys.argv[1]), numbers[0], numbers[1] if len(numbers) > 1 else 16)
