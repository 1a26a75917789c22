"""The scheduler of a cluster under load, over the wire: CPU seconds and memory beside their limits.

1,000 virtual nodes of 4 GPUs in two processes, 10,000 queued jobs, one real scheduler with its journal. Then
100,000 jobs come and finish.

    python benchmarks/cluster.py [--finished 100000]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import msgspec
import psutil

from blox.cluster.api import Client
from blox.cluster.central.records import Policies
from blox.cluster.protocol.messages import Cancel, JobSpec, Request, Submit
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell.place import Place
from blox.cluster.shell.wire import Line
from blox.cluster.virtual import SECONDS
from blox.errors import BloxError

NODES, GPUS, HOSTS, QUEUED, CHANGES, CLIENTS = 1_000, 4, 2, 10_000, 500, 16
WAVE = 2_000  # jobs that come and finish together
TIMING = Timing(round_s=10.0, heartbeat_s=5.0, lease_s=120.0)


class Load:
    """A scheduler, its virtual nodes, and clients that submit many jobs at once."""

    def __init__(self, place: Place, scheduler: psutil.Process) -> None:
        self.place, self.scheduler = place, scheduler
        self._lines = [Line(place.address()) for _ in range(CLIENTS)]
        self._number = 0

    def submit(self, count: int, spec: Callable[[int], JobSpec]) -> float:
        """Submits jobs from several clients at once; returns the seconds until all are acknowledged."""
        first, self._number = self._number, self._number + count
        return self.ask(Submit(f"r{number}", spec(number)) for number in range(first, first + count))

    def ask(self, requests: Iterable[Request]) -> float:
        """Asks from several clients at once; returns the seconds until all requests are acknowledged."""
        token, waiting = self.place.token(), [msgspec.msgpack.encode(request) for request in requests]

        def some(client: int) -> None:
            for request in waiting[client::CLIENTS]:
                _asked_until_answered(self._lines[client], token, request)

        began = time.monotonic()
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(some, range(CLIENTS)))
        return time.monotonic() - began

    def cpu_s(self) -> float:
        times = self.scheduler.cpu_times()
        return float(times.user + times.system)

    def memory_mb(self) -> float:
        return float(self.scheduler.memory_info().rss) / 1e6

    def metric(self, name: str) -> float:
        """A number that the scheduler tells Prometheus."""
        (target,) = json.loads((self.place.metrics / "scheduler.json").read_text())
        with urllib.request.urlopen(f"http://{target['targets'][0]}/metrics", timeout=60) as page:
            for line in page.read().decode().splitlines():
                if line.startswith(f"{name} "):
                    return float(line.split()[1])
        return 0.0


@contextmanager
def cluster(
    timing: Timing, policies: Policies, nodes: int = NODES, gpus: int = GPUS, hosts: int = HOSTS
) -> Iterator[Load]:
    """A scheduler and virtual nodes, as processes of this machine."""
    with tempfile.TemporaryDirectory(prefix="blox-load-") as directory:
        place = Place.of(directory)
        place.create()
        told = ["--timing", msgspec.json.encode(timing).decode()]
        rules = ["--policies", msgspec.json.encode(policies).decode()]
        children = [_started("blox.cluster.shell.scheduler_process", directory, *told, *rules)]
        try:
            while not place.address_file.exists():
                time.sleep(0.05)
            each = nodes // hosts
            for host in range(hosts):
                numbers = [str(host * each), str(each), str(gpus)]
                children.append(_started("blox.cluster.virtual", directory, *numbers, *told))
            load = Load(place, psutil.Process(children[0].pid))
            while load.metric('blox_nodes{state="alive"}') < nodes:
                time.sleep(0.5)
            yield load
        finally:
            for child in children:
                child.terminate()
            for child in children:
                try:
                    child.wait(30)
                except subprocess.TimeoutExpired:
                    child.kill()


def _asked_until_answered(line: Line, token: str, request: bytes) -> None:
    while True:
        try:
            answer = line.ask(token, request, 60.0)
            assert b"Accepted" in answer, answer
            return
        except BloxError:  # busy: the same request again is carried out once
            time.sleep(0.1)


def _started(module: str, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", module, *words], stdin=subprocess.PIPE)


def queue(load: Load) -> int:
    """10,000 jobs wait; then a round in which 500 of those that run have ended."""

    def spec(number: int) -> JobSpec:
        return JobSpec(("train",), GPUS, user=f"u{number % 50}", preemption="signal")

    began_cpu = load.cpu_s()
    seconds = load.submit(QUEUED + NODES, spec)
    count = QUEUED + NODES
    each = (load.cpu_s() - began_cpu) / count
    print(
        f"{count:,} submissions took {seconds:.0f} s, {count / seconds:.0f} a second, beside everything else"
    )
    missed = _tell("submissions a second of CPU, acknowledged", 1.0 / each, 300.0, "", least=True)
    while load.metric('blox_jobs{state="running"}') < NODES:
        time.sleep(0.2)
    time.sleep(2 * TIMING.heartbeat_s)  # those that run have said so
    idle_s, idle_cpu = time.monotonic(), load.cpu_s()
    time.sleep(2 * TIMING.heartbeat_s)
    idle = (load.cpu_s() - idle_cpu) / (time.monotonic() - idle_s)
    _tell("idle, with 1,000 nodes that report", idle, 0.5, "CPU s a second")
    return missed + _round_with_changes(load)


def _round_with_changes(load: Load) -> int:
    """The round in which 500 jobs end and others take their GPUs, as the scheduler logs it: decided, stored
    and sent, while nodes go on reporting.

    The jobs are cancelled right behind a round, so that the next one ends them all.
    """
    name = 'blox_job_events_total{what="started"}'
    round_s, rounds = TIMING.round_s, len(_rounds(load))
    with Client(load.place.root) as client:
        time.sleep(round_s - client.policies().now_s % round_s + 0.5)
    load.ask(Cancel(f"c{job}", job) for job in range(1, CHANGES + 1))
    while load.metric(name) < NODES + CHANGES:
        time.sleep(0.5)
    missed, told = 0, 0
    for each in _rounds(load)[rounds:]:
        told += each["changes"]
        missed += _tell(f"a round with {each['changes']:,} changes", each["cpu_s"], 1.0, "s CPU")
    return missed + (told < 2 * CHANGES)  # each ends one job and starts another


def _rounds(load: Load) -> list[dict[str, float]]:
    """The rounds that changed something."""
    with open(load.place.logs / "scheduler.jsonl") as log:
        return [json.loads(line) for line in log if '"event": "round"' in line]


def finish(load: Load, count: int) -> int:
    """Jobs come and finish, WAVE at a time so that few wait on a slow machine too; the scheduler's memory at
    every tenth of them."""
    name, sizes, done = 'blox_job_events_total{what="finished"}', [], 0
    for tenth in range(1, 11):
        while done < count * tenth // 10:
            load.submit(WAVE, lambda number: JobSpec(("train",), 1, environment={SECONDS: "0.1"}))
            done += WAVE
            while load.metric(name) < done:
                time.sleep(0.2)
        sizes.append(load.memory_mb())
        print(f"  {done:9,} jobs have finished: {sizes[-1]:6.0f} MB", flush=True)
    growth = max(sizes[5:]) / max(sizes[:5])
    return _tell(f"memory, second half over first, of {count:,}", growth, 1.05, "")


def _tell(what: str, found: float, limit: float, unit: str, *, least: bool = False) -> int:
    print(f"{what:45} {found:10.2f} {unit:15} {'at least' if least else 'limit'} {limit:g}", flush=True)
    return int(found < limit if least else found > limit)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--finished", type=int, default=100_000)
    given = parser.parse_args()
    missed = 0
    with cluster(TIMING, Policies(scheduler="fifo")) as load:
        missed += queue(load)
    with cluster(Timing(round_s=2.0, heartbeat_s=5.0, lease_s=120.0), Policies()) as load:
        missed += finish(load, given.finished)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
