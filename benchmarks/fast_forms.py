"""What each fast form of the core is worth: the run it was made for, with the plain form in its place.

    python benchmarks/fast_forms.py [--only heap] [--tries 5]

Both forms run in turn in one process, with equal results; the median of the ratios counts. A form that is
worth less than a tenth has to go. Exits with 1 when one is, or when the results differ.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from board import Board
from run import compat, large
from tiresias import draw_jobs

from blox import Experiment
from blox.backends.ends import Ends
from blox.compat.tiresias import counted
from blox.placement.first_free import FirstFree
from blox.placement.walk import by_node, counting, pinned
from blox.state import leases, line
from blox.state.holdings import Holdings
from blox.state.jobs import JobState
from blox.state.plan import Allocation, Plan
from blox.workloads.table import Array

LEAST = 1.1
Plain = Callable[[], Iterator[None]]


def replaced(owner: object, name: str, by: object) -> Plain:
    """The plain form by another attribute of a module or a class."""

    @contextmanager
    def form() -> Iterator[None]:
        with patch.object(owner, name, by):
            yield

    return form


def listed_at_once(kind: type, rows: str, *verbs: str) -> Plain:
    """The plain form of rows that are listed on demand: listed whenever they change."""

    @contextmanager
    def form() -> Iterator[None]:
        with ExitStack() as stack:
            for verb in verbs:
                stack.enter_context(patch.object(kind, verb, _then_list(getattr(kind, verb), rows)))
            yield

    return form


def _then_list(change: Callable[..., None], rows: str) -> Callable[..., None]:
    def changed(owner: object, *args: object) -> None:
        change(owner, *args)
        getattr(owner, rows)

    return changed


@contextmanager
def arrays_only() -> Iterator[None]:
    """Two jobs and more are handled as arrays, not one by one."""
    modules = [module for name, module in sys.modules.items() if name.startswith("blox.")]
    with ExitStack() as stack:
        for module in modules:
            if hasattr(module, "SCALAR_MAX"):
                stack.enter_context(patch.object(module, "SCALAR_MAX", 1))
        yield


def scan_ends(ends: Ends, job_state: JobState) -> float:
    """The earliest end of all running jobs, looked for whenever it is asked for."""
    ends._heap, ends._horizon = [], -np.inf  # so that one job is taken into the heap, and no more
    running = job_state.active[job_state.running]
    if len(running):
        ends._fill(running)
    return ends._heap[0][0] if ends._heap else np.inf


def exchange_all(pins, cluster_state, job_state) -> Plan:  # type: ignore[no-untyped-def]
    """The difference of two whole allocations."""
    return Plan.diff(cluster_state.allocation, Allocation.from_dict(dict(pins)))


def pin_one_by_one(jobs, types, gpus, cluster_state, submitted):  # type: ignore[no-untyped-def]
    """As jobs that may share GPUs are pinned."""
    pins, stays = leases.pin(
        [(job, -1) for job in jobs.tolist()], types.tolist(), gpus.tolist(), cluster_state
    )
    order = {job: pins[job] for job in jobs.tolist()}
    return order, np.array([stays[job] for job in jobs.tolist()])


def sort_keys(key: Array) -> Array:
    """The keys sorted as they are."""
    return key.argsort(kind="stable")


def unknown(*_: object) -> None:
    """The short way is not known."""


def first_free_by_node(schedule, cluster_state, job_state, assign=None):  # type: ignore[no-untyped-def]
    """The walk over nodes."""
    return by_node.place_by_node(schedule, cluster_state, job_state, FirstFree())


def best_fit_of_all(pool: by_node.NodePool, need: int) -> int:
    """The node with the fewest free GPUs of those with enough, looked for among all."""
    return min(((free, node) for node, free in enumerate(pool.free) if free >= need), default=(0, -1))[1]


def without(limit: str) -> Plain:
    """The walk whose room says nothing of that limit (`alike` or `whole`)."""
    init = by_node.NodeRoom.__init__

    def plain(room: by_node.NodeRoom, *arguments: object) -> None:
        init(room, *arguments)  # type: ignore[arg-type]
        setattr(room, limit, 0)

    return replaced(by_node.NodeRoom, "__init__", plain)


@dataclass(frozen=True)
class Form:
    """A fast form: what it is called, the run that it was made for, and how to run without it."""

    name: str
    settings: dict[str, object]
    plain: Plain


def forms(jobs_csv: str) -> list[Form]:
    fifo = compat("", 0, "Fifo").settings
    apart = large("", 0, "las", "first-free", 0.9, 30_000).settings
    crowded = large("", 0, "las", "count", 3, 60_000).settings
    by_nodes = large("", 0, "las", "consolidated", 3, 60_000).settings
    events = {
        "workload": jobs_csv,
        "cluster": "1250x8",
        "scheduler": "tiresias:queues=2,threshold=3200",
        "placement": "count",
        "performance": "duration",
        "clock": "events",
    }
    gavel = {
        "cluster": "v100=9x4,p100=9x4,k80=9x4",
        "scheduler": "gavel:policy=max_min_fairness",
        "performance": "throughputs",
    }
    overfull = {
        "workload": "philly:load=1500",
        "cluster": "250x8",
        "jobs": 10_000,
        "compat": "tiresias:schedule=shortest,scheme=count",
    }
    single = {**gavel, "workload": "gavel:load=5.6,job_types=true", "jobs": 1500}
    wide = {**gavel, "workload": "gavel:multi=true,offered=1.0,gpus=108,jobs=300"}
    return [
        Form("walk/counting: counted, not walked", apart, replaced_in_first_free()),
        Form("walk/counting: newcomers decide", events, replaced(counting, "_start_newcomers", unknown)),
        Form("walk/counting: contested jobs only", events, replaced(counting, "_start_contested", unknown)),
        Form(
            "walk/by_node: nodes found in bytes",
            by_nodes,
            replaced(by_node.NodePool, "best_fit", best_fit_of_all),
        ),
        Form("walk/by_node: a request for one node goes to the best fit", by_nodes, without("whole")),
        Form("walk/plain: requests as large as a refused one not asked", by_nodes, without("alike")),
        Form(
            "walk/pinned: GPUs that change hands",
            wide,
            replaced(pinned, "_exchange", exchange_all),
        ),
        Form(
            "state/leases: pinned as arrays",
            single,
            replaced(leases, "pin_alone", pin_one_by_one),
        ),
        Form(
            "state/jobs: active rows listed on demand",
            events,
            listed_at_once(JobState, "active", "add_new_jobs", "finish"),
        ),
        Form(
            "state/holdings: running rows listed on demand",
            events,
            listed_at_once(Holdings, "jobs", "apply", "release"),
        ),
        Form("state/line: long keys sorted as integers", crowded, replaced(line, "_long_order", sort_keys)),
        Form("state/progress and others: few jobs one by one", fifo, arrays_only),
        Form("backends/ends: kept in a heap", events, replaced(Ends, "next", scan_ends)),
        Form(
            "compat/tiresias: long lines counted at once", overfull, replaced(counted, "_MANY", sys.maxsize)
        ),
    ]


def replaced_in_first_free() -> Plain:
    from blox.placement import first_free

    return replaced(first_free, "place_by_count", first_free_by_node)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="run the forms whose name contains this")
    parser.add_argument("--tries", type=int, default=5, help="pairs of runs; their median ratio counts")
    given = parser.parse_args()
    board = Board()
    with tempfile.TemporaryDirectory(prefix="blox-bench-") as folder:
        jobs_csv = Path(folder) / "jobs.csv"
        draw_jobs(jobs_csv, 60_000)
        for form in forms(str(jobs_csv)):
            if given.only in form.name:
                ratio, same = measure(form, given.tries)
                board.line(form.name, ratio, "x", LEAST, at_least=True, note="" if same else "results DIFFER")
                if not same:
                    board.missed.append(f"{form.name} (results)")
    return 1 if board.missed else 0


def measure(form: Form, tries: int) -> tuple[float, bool]:
    """(plain over fast CPU seconds, whether the results are equal)."""
    prepared = Experiment(**form.settings).prepare()  # type: ignore[arg-type]

    def run() -> tuple[float, Array]:
        start = time.process_time()
        result = prepared.run()
        return time.process_time() - start, result.jobs["finish_s"]

    run()
    ratios, same = [], True
    for _ in range(tries):
        fast, ends = run()
        with form.plain():
            plain, others = run()
        ratios.append(plain / fast)
        same = same and np.array_equal(ends, others, equal_nan=True)
    return statistics.median(ratios), same


if __name__ == "__main__":
    sys.exit(main())
