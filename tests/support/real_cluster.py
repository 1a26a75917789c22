"""A real cluster for tests: processes of this machine, short rounds, taken down whatever happens.

Leases are far longer than anything takes, so that a machine that stands still for seconds, or is ten times as
slow, changes nothing.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import psutil

from blox.cluster.api import Client
from blox.cluster.central.records import Policies
from blox.cluster.protocol.timing import Timing
from blox.cluster.shell import local
from blox.cluster.shell.place import Place
from support.waiting import PATIENCE_S, eventually

EXAMPLES = Path(__file__).parents[2] / "examples" / "cluster"
PACED = Path(__file__).with_name("paced.py")
TIMING = Timing(round_s=0.5, heartbeat_s=0.25, lease_s=60, margin_s=10, grace_s=20, backoff_s=0.5, attempts=3)


def python(script, *arguments, slow_while=None):
    """The command that runs an example; its pauses are long while the file `slow_while` is there."""
    paced = [] if slow_while is None else [str(PACED), str(slow_while)]
    return [sys.executable, *paced, str(EXAMPLES / script), *map(str, arguments)]


@contextmanager
def real_cluster(directory, nodes=2, gpus=2, policies=None, timing=TIMING):
    place, policies = Place.of(directory), policies or Policies()
    settings = {"timing": timing, "policies": policies, "attached": True, "patience_s": PATIENCE_S}
    local.start(place, nodes, gpus, **settings).close()
    try:
        with Client(place.root, patience_s=PATIENCE_S) as client:
            yield client, place
    finally:
        local.stop(place)


def processes_of(place):
    """Every process that has to do with a cluster."""
    return processes_under(place.root)


def processes_under(directory):
    """Every process that names a directory, in its command line or as the place of its lease.

    `info["cmdline"]` of each is what was read: a process may end at any time, and cannot be asked then.
    """
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


def running_with(directory, word):
    """The processes under a directory with a word in their command line."""
    return [
        process
        for process in processes_under(directory)
        if any(word in each for each in process.info["cmdline"] or ())
    ]


def pid_of(place, module):
    """The process that runs a module of the shell, once it is there: it may be about to start again."""
    found = []

    def alone():
        found[:] = running_with(place.root, module)
        return len(found) == 1

    assert eventually(alone), found
    return found[0]
