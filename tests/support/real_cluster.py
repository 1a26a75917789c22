"""A real cluster for tests: processes of this machine, short times, taken down whatever happens."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil

from blox.cluster.central.records import Policies
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell import local
from blox.cluster.shell.place import Place

EXAMPLES = Path(__file__).parents[2] / "examples" / "cluster"
# A lease that is long for a test: machines that run many tests at once stop for seconds.
TIMING = Timing(round_s=0.5, heartbeat_s=0.25, lease_s=20, margin_s=1, grace_s=10, backoff_s=0.5, attempts=3)


def python(script, *arguments):
    """The command that runs an example."""
    return [sys.executable, str(EXAMPLES / script), *map(str, arguments)]


@contextmanager
def real_cluster(directory, nodes=2, gpus=2, policies=None, timing=TIMING):
    place = Place.of(directory)
    client = local.start(place, nodes, gpus, timing=timing, policies=policies or Policies(), attached=True)
    try:
        yield client, place
    finally:
        local.stop(place)


def processes_of(place):
    """Every process that has to do with a cluster."""
    return processes_under(place.root)


def processes_under(directory):
    """Every process that names a directory, in its command line or as the place of its lease."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        try:
            words = " ".join(process.info["cmdline"] or ())
            lease = process.environ().get("BLOX_LEASE", "")
            if str(directory) in words or lease.startswith(str(directory)):
                found.append(process)
        except psutil.Error:
            continue
    return found


def pid_of(place, module):
    """The process that runs a module of the shell."""
    (found,) = [p for p in processes_of(place) if any(module in word for word in p.cmdline())]
    return found


def eventually(holds, within_s=60.0):
    """Waits until something holds; False if it never does."""
    until = time.monotonic() + within_s
    while not (held := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return held
