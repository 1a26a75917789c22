from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from blox.report.charts import Chart, Line
from blox.reproduce.answer import Finding, Table, Verdict
from blox.reproduce.page import Measurement, Setting, Unavailable

if TYPE_CHECKING:
    from blox.cluster.shell.place import Place
    from blox.cluster.virtual import VirtualNodes

OPTIMISTIC, CENTRAL = "optimistic", "central"
SIZES = {"quick": (8, 128, 1024), "full": (8, 16, 32, 64, 128, 256, 512, 1024)}
RENEWALS = {"quick": 3, "full": 20}  # of every job, at every size
LOOKS = 1_024  # into leases, timed together
GPUS_PER_NODE = 8
FASTER, FLAT, GROWS = 2.0, 1.5, 2.0
_TURNS = 50  # of each size
_PATIENCE_S = 120.0


@dataclass(frozen=True)
class Figure19(Measurement):
    """What it costs a job to go on: a look into its own lease, or a question to the scheduler."""

    title = "Optimistic against central lease renewal"
    claim = (
        "Optimistic renewal is more than 50 % faster than central renewal, and the time that it takes stays "
        "the same as GPUs are added, while that of central renewal grows."
    )
    rule = (
        f"Holds if at every size the optimistic renewal is at least {FASTER:g}x as fast, its slowest size "
        f"takes at most {FLAT:g}x the time of its fastest, and central renewal takes at least {GROWS:g}x as "
        "long at the largest size as at the smallest; in part if it is at least as fast everywhere; "
        "otherwise it does not hold."
    )
    differences = (
        "GPUs are virtual: worker managers with 8 each, several to a process, over the real wire to a real "
        "scheduler process on the same machine. Each has a job of one rank, and all renew at the same time.",
        "The paper's jobs ask their worker manager over RPC; ours read memory that they share with it.",
    )

    def setup(self, setting: Setting) -> str:
        sizes, renewals = SIZES[setting.scale], RENEWALS[setting.scale]
        return (
            f"{sizes[0]} to {sizes[-1]:,} virtual GPUs with a job each; every job renews its lease "
            f"{renewals} times, all of them at once. The time is that from the question until the job may go "
            "on, the median over jobs and renewals. A look into a lease takes less than a microsecond: "
            f"{LOOKS:,} are timed together when the cluster is gone, {_TURNS} times, sizes in turn, and the "
            "least time counts: what else the machine does can only add to it."
        )

    def measure(self, setting: Setting) -> Mapping[str, Any]:
        try:
            import grpc  # noqa: F401
        except ImportError:
            raise Unavailable("gRPC: pip install 'blox[cluster]'") from None
        sizes, renewals = SIZES[setting.scale], RENEWALS[setting.scale]
        with _scheduler() as place:
            central = {size: _central_s(hosts, renewals) for size, hosts in _grown(place, sizes)}
        found = {OPTIMISTIC: _optimistic_s(sizes), CENTRAL: central}
        return {
            name: {str(size): seconds for size, seconds in times.items()} for name, times in found.items()
        }

    def judged(self, measured: Mapping[str, Any]) -> Finding:
        times = {
            name: {int(size): found for size, found in sizes.items()} for name, sizes in measured.items()
        }
        rows = tuple(
            (
                f"{size:,}",
                f"{1e6 * optimistic:.1f} us",
                f"{1e3 * times[CENTRAL][size]:.2f} ms",
                f"{times[CENTRAL][size] / optimistic:,.0f}x",
            )
            for size, optimistic in times[OPTIMISTIC].items()
        )
        lines = tuple(
            Line(name, tuple(map(float, sizes)), tuple(1e3 * each for each in sizes.values()))
            for name, sizes in times.items()
        )
        chart = Chart("GPUs", "time of a renewal (ms)", lines, log_x=True, log_y=True)
        heads = ("GPUs", OPTIMISTIC, CENTRAL, "faster")
        return Finding(Table(heads, rows), (chart,), judge(times[OPTIMISTIC], times[CENTRAL]))


def judge(optimistic: Mapping[int, float], central: Mapping[int, float]) -> Verdict:
    """The rule, from seconds of a renewal by number of GPUs."""
    ratio = min(central[size] / optimistic[size] for size in optimistic)
    flat = max(optimistic.values()) / min(optimistic.values())
    grows = central[max(central)] / central[min(central)]
    facts = (
        f"optimistic renewal is at least {ratio:,.0f}x as fast, and its times differ by {flat:.2f}x; central "
        f"renewal takes {grows:,.1f}x as long with {max(central):,} GPUs as with {min(central)}"
    )
    if ratio >= FASTER and flat <= FLAT and grows >= GROWS:
        return Verdict("holds", facts)
    return Verdict("holds in part" if ratio >= 1.0 else "does not hold", facts)


@contextmanager
def _scheduler() -> Iterator[Place]:
    """A scheduler process without nodes."""
    from blox.cluster.protocol.timing import Timing
    from blox.cluster.shell.place import Place

    with tempfile.TemporaryDirectory(prefix="blox-fig19-") as directory:
        place, timing = Place.of(directory), Timing(round_s=1.0, heartbeat_s=2.0, lease_s=300.0)
        place.create()
        module = "blox.cluster.shell.scheduler_process"
        words = ["-m", module, directory, "--timing", msgspec.json.encode(timing).decode()]
        process = subprocess.Popen([sys.executable, *words], stdin=subprocess.PIPE)
        try:
            _wait(place.address_file.exists, "the scheduler did not start")
            yield place
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)


def _grown(place: Place, sizes: Sequence[int]) -> Iterator[tuple[int, list[VirtualNodes]]]:
    """The cluster at each size: nodes join, and every GPU gets a job that runs."""
    from blox.cluster.api import Client
    from blox.cluster.protocol.timing import Timing
    from blox.cluster.virtual import VirtualNodes

    timing = Timing(round_s=1.0, heartbeat_s=2.0, lease_s=300.0)
    hosts: list[VirtualNodes] = []
    threads: list[threading.Thread] = []
    gpus = 0
    try:
        with Client(place.root, patience_s=_PATIENCE_S) as client:
            for size in sizes:
                more = (size - gpus) // GPUS_PER_NODE
                hosts.append(VirtualNodes(place, gpus // GPUS_PER_NODE, more, GPUS_PER_NODE, timing))
                threads.append(threading.Thread(target=hosts[-1].run, daemon=True))
                threads[-1].start()
                for _ in range(size - gpus):
                    client.submit(["train"], directory="")
                gpus = size
                _wait(partial(_all_run, hosts, size), f"{size} jobs did not start")
                yield size, list(hosts)
    finally:
        for host in hosts:
            host.mailbox.close()
        for thread in threads:
            thread.join(10)


def _all_run(hosts: Sequence[VirtualNodes], jobs: int) -> bool:
    return sum(len(host.leads) for host in hosts) == jobs


def _central_s(hosts: Sequence[VirtualNodes], renewals: int) -> float:
    """The seconds of a renewal that the scheduler is asked for."""
    return statistics.median(seconds for number in range(renewals) for seconds in _central(hosts, number))


def _central(hosts: Sequence[VirtualNodes], number: int) -> list[float]:
    """Every job asks the scheduler, all at once: the seconds until each may go on."""
    leads = [(host, key) for host in hosts for key in host.leads]
    asked: dict[tuple[int, int], float] = {}

    def ask(host: VirtualNodes, key: tuple[int, int]) -> None:
        asked[key] = time.monotonic()
        host.ask(key, number)

    for host, key in leads:
        host.mailbox.post(lambda host=host, key=key: ask(host, key))  # type: ignore[misc]
    _wait(
        lambda: all(host.allowed.get(key, (-1, 0.0))[0] >= number for host, key in leads),
        "jobs were not allowed to go on",
    )
    return [host.allowed[key][1] - asked[key] for host, key in leads]


def _optimistic_s(sizes: Sequence[int]) -> dict[int, float]:
    """The seconds of a look into a lease, as the loader takes it at an iteration boundary, by number of jobs.

    Sizes take turns, so that what else the machine does falls on all of them; it only ever adds to a time.
    """
    from blox.client.page import LeasePage
    from blox.cluster.protocol.rank import at_boundary

    times: dict[int, list[float]] = {size: [] for size in sizes}
    with tempfile.TemporaryDirectory(prefix="blox-fig19-") as directory:
        pages = [LeasePage.create(Path(directory) / str(number)) for number in range(max(sizes))]
        for number in range(_TURNS):
            for size in sizes:
                looked_into = pages[:size] * (LOOKS // size)
                began = time.perf_counter()
                for page in looked_into:
                    at_boundary(0, 1, number, page)
                times[size].append((time.perf_counter() - began) / len(looked_into))
    return {size: min(found) for size, found in times.items()}


def _wait(holds: Any, what: str) -> None:
    until_s = time.monotonic() + _PATIENCE_S
    while not holds():
        if time.monotonic() > until_s:
            raise Unavailable(f"{what} within {_PATIENCE_S:g} s: is the machine busy?")
        time.sleep(0.01)


PAGE = Figure19()
