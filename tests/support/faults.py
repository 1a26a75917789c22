"""Real faults for real clusters, at seeded times, and what must hold by the processes' own records."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import psutil

from blox.errors import BloxError
from support.real_cluster import eventually, processes_of

JOB = Path(__file__).with_name("fault_job.py")
WATCHERS = "worker_process", "guard.py"  # each of them ends a rank when its lease has run out


def command(records, seconds, padding=0):
    return [sys.executable, "-S", "-E", str(JOB), str(records), str(seconds), str(padding)]


class Faults:
    """Does harm to the processes of a cluster. `done`: what was done, by kind."""

    def __init__(self, place, seed):
        self._place, self.rng, self.done = place, random.Random(seed), Counter()
        self._stopped = []  # (until, word, process)

    def processes(self, word):
        """Those whose command line has a word; of ranks: `fault_job`, of their guards: `guard.py`."""
        found = []
        for process in processes_of(self._place):
            with contextlib.suppress(psutil.Error):
                line = process.cmdline()
                guard = any(part.endswith("guard.py") for part in line)
                if any(word in part for part in line) and guard == (word == "guard.py"):
                    found.append(process)
        return sorted(found, key=lambda each: each.pid)

    def kill(self, word, number=signal.SIGKILL):
        """Kills one process; False: there is none."""
        found = self.processes(word)
        if not found:
            return False
        with contextlib.suppress(psutil.NoSuchProcess):
            self.rng.choice(found).send_signal(number)
            self.done[f"{number.name} {word}"] += 1
        return True

    def stop(self, word, seconds):
        """SIGSTOP for a while.

        Guards and worker managers are not stopped at the same time: with both stopped past the lease nobody
        is left to end a rank, which is beyond what is promised (docs/cluster.md).
        """
        if word in WATCHERS:
            self.resume(each for each in WATCHERS if each != word)
        found = self.processes(word)
        if found:
            process = self.rng.choice(found)
            with contextlib.suppress(psutil.NoSuchProcess):
                process.suspend()
                self._stopped.append((time.monotonic() + seconds, word, process))
                self.done[f"SIGSTOP {word}"] += 1

    def resume(self, words=(), everything=False):
        """SIGCONT to processes whose time is over, and to those found by these words."""
        words = set(words)
        for entry in list(self._stopped):
            until, word, process = entry
            if everything or word in words or time.monotonic() >= until:
                self._stopped.remove(entry)
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.resume()

    def misfortune(self, longest_stop_s):
        """One fault of any kind but to the scheduler."""
        kind, seconds = self.rng.randrange(6), self.rng.uniform(0.2, longest_stop_s)
        if kind == 0:
            self.kill("worker_process")
        elif kind == 1:
            self.stop("worker_process", seconds)
        elif kind == 2:
            self.kill("fault_job")
        elif kind == 3:
            self.stop("fault_job", seconds)
        elif kind == 4:
            self.kill("guard.py")
        else:
            self.stop("guard.py", seconds)


def submit(client, words, **fields):
    """Submits until it is acknowledged or refused: also while the scheduler starts again."""
    until = time.monotonic() + 120
    while True:
        try:
            return client.submit(words, **fields)
        except BloxError:
            if time.monotonic() > until:
                raise


def ended(client, jobs, within_s):
    """The views of jobs, once all have ended."""

    def all_ended():
        with contextlib.suppress(BloxError):
            views = {view.job: view for view in client.jobs()}
            return all(views[job].end_s is not None for job in jobs) and views
        return False

    views = eventually(all_ended, within_s)
    assert views, [(view.job, view.state) for view in client.jobs() if view.end_s is None]
    return views


def records_of(directory):
    """Every line that a process wrote, in order of time."""
    lines = []
    for path in Path(directory).glob("*.jsonl"):
        for line in path.read_text().splitlines():
            with contextlib.suppress(ValueError):  # the last one may be cut off
                lines.append(json.loads(line))
    return sorted(lines, key=lambda line: line["at"])


def check(directory, views, jobs, place):
    """What must hold by the processes' own records. Raises AssertionError."""
    lines = records_of(directory)
    violations = [line for line in lines if line["what"] == "violation"]
    assert violations == [], violations
    starts, ends = Counter(), defaultdict(set)
    latest = {}
    for line in lines:
        key = line["job"], line["epoch"], line["rank"]
        if line["what"] == "start":
            starts[key] += 1
            assert line["epoch"] >= latest.get(line["job"], 0), f"an old epoch: {line}"
            latest[line["job"]] = line["epoch"]
        elif line["what"] == "done":
            ends[line["job"]].add(line["epoch"])
    assert [key for key, count in starts.items() if count > 1] == [], "started twice"
    for job in jobs:
        state = views[job].state
        if state == "finished":
            assert len(ends[job]) >= 1, f"job {job} finished, and no process of it says so"
        else:
            assert state == "cancelled" or state.startswith("failed "), f"job {job}: {state}"
    lost = [line["pid"] for line in lines if psutil.pid_exists(line["pid"]) and _is_ours(line["pid"], place)]
    assert lost == [], "processes are left"
    return lines


def _is_ours(pid, place):
    try:
        return psutil.Process(pid).environ().get("BLOX_LEASE", "").startswith(str(place.root))
    except psutil.Error:
        return False
