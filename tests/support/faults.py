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
from support.real_cluster import running_with
from support.waiting import PATIENCE_S, eventually

JOB = Path(__file__).with_name("fault_job.py")
WATCHERS = "worker_process", "guard.py"  # each of them ends a rank when its lease has run out


def command(records, seconds, padding=0, until=""):
    """A job of so many seconds, and longer if need be: until there is the file `until`."""
    return [sys.executable, "-S", "-E", str(JOB), *map(str, (records, seconds, padding, until))]


class Faults:
    """Does harm to the processes of a cluster. `done`: what was done, by kind."""

    def __init__(self, place, seed):
        self._place, self.rng, self.done = place, random.Random(seed), Counter()
        self._stopped = []  # (until, word, process)

    def processes(self, word):
        """Those whose command line has a word; of ranks: `fault_job`, of their guards: `guard.py`."""
        found = []
        for process in running_with(self._place.root, word):
            guard = any(part.endswith("guard.py") for part in process.info["cmdline"])
            if guard == (word == "guard.py"):
                found.append(process)
        return sorted(found, key=lambda each: each.pid)

    def kill(self, word, number=signal.SIGKILL):
        """Kills one process; False: there is none."""
        found = self.processes(word)
        with contextlib.suppress(psutil.NoSuchProcess):
            if found:
                self.rng.choice(found).send_signal(number)
                self.done[f"{number.name} {word}"] += 1
                return True
        return False

    def stop(self, word, seconds):
        """SIGSTOP for a while; False: there is no such process.

        Guards and worker managers are not stopped at the same time: with both stopped past the lease nobody
        is left to end a rank, which is beyond what is promised (docs/cluster.md).
        """
        if word in WATCHERS:
            self.resume(each for each in WATCHERS if each != word)
        found = self.processes(word)
        with contextlib.suppress(psutil.NoSuchProcess):
            if found:
                process = self.rng.choice(found)
                process.suspend()
                self._stopped.append((time.monotonic() + seconds, word, process))
                self.done[f"SIGSTOP {word}"] += 1
                return True
        return False

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
        """One fault of any kind but to the scheduler, as soon as there is a process to suffer it.

        A guard that is stopped is continued before its worker manager is killed: on a busy machine the next
        one, which would wake it, may start later than the lease ends.
        """
        word = self.rng.choice(("worker_process", "fault_job", "guard.py"))
        kill, seconds = self.rng.random() < 0.5, self.rng.uniform(0.2, longest_stop_s)

        def done():
            self.resume(("guard.py",) if kill and word == "worker_process" else ())
            return self.kill(word) if kill else self.stop(word, seconds)

        assert eventually(done), f"no process of {word}"


def ended(client, jobs, within_s=3 * PATIENCE_S):
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
