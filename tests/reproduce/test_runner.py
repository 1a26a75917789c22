"""Several pages at once: measurements first, each run once, pages in order, the same bytes if interrupted."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from blox.experiment.parallel import run_each
from blox.experiment.settings import Experiment
from blox.reproduce import Case, Cause, Finding, Measurement, Page, Setting, Table, Unavailable, Verdict
from blox.reproduce.answer import Answer
from blox.reproduce.book import write_book
from blox.reproduce.curves import means, spreads
from blox.reproduce.runner import RunsFailed, reproduce

BASE = Experiment(workload="philly:load=4,jobs=20,max_gpus=8", cluster="2x4", performance="duration")


class Tiny(Page):
    """A page over some schedulers, each of which is a line, with two seeds."""

    title, claim, rule = "tiny", "It holds.", "Always."

    def __init__(self, *schedulers, probes=()):
        self.schedulers, self.probes = schedulers, probes

    def setup(self, setting):
        return f"Seed {setting.seed}."

    def cases(self, setting):
        return [
            Case(name, 4.0, replace(BASE, scheduler=name, seed=seed))
            for name in self.schedulers
            for seed in setting.seeds(2, 2)
        ]

    def finding(self, done):
        rows = tuple((line, f"{points[4.0]:.3f}") for line, points in means(spreads(done)).items())
        return Finding(Table(("line", "h"), rows), (), Verdict("holds", "it does"))


@dataclass
class Probe:
    """Asks the runs of a page once more."""

    page: Tiny

    def cases(self, setting):
        return self.page.cases(setting)

    def cause(self, done):
        return Cause("Why?", f"{len(done)} runs say so.")


class Measured(Measurement):
    """A page that counts how often it measures; `available` says whether it can."""

    title, claim, rule = "measured", "It is so.", "Always."

    def __init__(self, events, available=True):
        self.events, self.available = events, available

    def setup(self, setting):
        return ""

    def measure(self, setting):
        self.events.append("measured")
        if not self.available:
            raise Unavailable("a cluster")
        return {"seed": setting.seed}

    def judged(self, measured):
        return Finding(Table(("", ""), (("seed", f"{measured['seed']}"),)), (), Verdict("holds", "it is"))


class Ask:
    """Asks pages of a made-up catalogue and notes in which order things happen."""

    def __init__(self, monkeypatch, known):
        self.events, self.known = [], known
        monkeypatch.setattr("blox.reproduce.runner.page_called", self.known.__getitem__)

    def run(self, tasks, names, finished):
        for number, task in enumerate(tasks):
            ((_, outcome),) = run_each([task], 1)
            self.events.append(names[number])
            yield number, outcome

    def __call__(self, out, *names, seed=1, run=None):
        found = {}
        for name, answer in reproduce(names, out, Setting(seed=seed), run or self.run):
            self.events.append(f"page {name}")
            found[name] = answer
        return found


@pytest.fixture
def ask(monkeypatch):
    """Two pages that share FIFO's runs, the second with a probe, and one that measures."""
    second = Tiny("srtf", "fifo", probes=(Probe(Tiny("las")),))
    asked = Ask(monkeypatch, {"fig4": Tiny("fifo", "las"), "fig5": second})
    asked.known["fig18"] = Measured(asked.events)
    return asked


def files(out: Path) -> dict[str, bytes]:
    """All that a second run must give once more; `timing.json` has what the clock says."""
    write_book(out)
    kept = (path for path in out.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(out)): path.read_bytes() for path in kept if path.name != "timing.json"}


def test_measurements_come_first_and_pages_as_soon_as_their_runs_are_there(ask, tmp_path):
    found = ask(tmp_path, "fig4", "fig18", "fig5")
    assert all(isinstance(answer, Answer) for answer in found.values())
    assert ask.events == [
        "measured", *(f"fig4: {name}, 4" for name in ("fifo", "fifo", "las", "las")), "page fig4",
        "page fig18", "fig5: srtf, 4", "fig5: srtf, 4", "page fig5",
    ]  # fmt: skip
    assert found["fig5"].causes[0].answer == "2 runs say so."


def test_two_folders_get_the_same_bytes(ask, tmp_path):
    for name in ("one", "two"):
        ask(tmp_path / name, "fig4", "fig18", "fig5")
    one, two = files(tmp_path / "one"), files(tmp_path / "two")
    assert {"book.html", "fig4/finding.json", "fig5/numbers.csv", "fig18/measured.json"} <= set(one)
    assert one == two


@pytest.mark.parametrize("after", [0, 1, 3, 5])
def test_an_interrupted_book_goes_on_to_the_same_bytes(ask, tmp_path, after):
    def interrupted(tasks, names, finished):
        for at, ended in enumerate(ask.run(tasks, names, finished)):
            if at == after:
                raise KeyboardInterrupt
            yield ended

    ask(tmp_path / "whole", "fig4", "fig5")
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        ask(out, "fig4", "fig5", run=interrupted)
    ask.events.clear()
    ask(out, "fig4", "fig5")
    assert sum(": " in event for event in ask.events) == 6 - after - 1
    assert files(out) == files(tmp_path / "whole")


def test_what_was_measured_is_kept_for_the_same_seed(ask, tmp_path):
    for seed, times in ((1, 1), (1, 1), (2, 2)):
        found = ask(tmp_path, "fig18", seed=seed)
        assert ask.events.count("measured") == times
        assert found["fig18"].finding.table.rows == (("seed", str(seed)),)


def test_a_page_without_an_answer_stops_no_other(ask, tmp_path):
    ask.known["fig18"].available = False
    ask.known["fig5"] = Tiny("fifo:strict=perhaps")
    found = ask(tmp_path, "fig5", "fig18", "fig4")
    assert isinstance(found["fig5"], RunsFailed) and len(found["fig5"].outcomes) == 2
    assert isinstance(found["fig18"], Unavailable) and isinstance(found["fig4"], Answer)
    assert not (tmp_path / "fig5" / "finding.json").exists()


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_the_command(tmp_path):
    """The command itself, with two processes: stopped after its first run, then asked again."""
    command = [sys.executable, "-m", "blox", "reproduce", "fig4", "fig16", "--processes", "2", "--out"]

    def first_run_is_there() -> bool:
        return any((tmp_path / "out" / "runs").glob("*/summary.json"))

    stopped = subprocess.Popen(
        [*command, "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in a shell's background
    )
    until_s = time.monotonic() + 120
    while not first_run_is_there() and time.monotonic() < until_s:
        time.sleep(0.01)
    os.killpg(stopped.pid, signal.SIGINT)
    _, words = stopped.communicate(timeout=60)
    assert stopped.returncode == 130 and b"the same command goes on" in words and b"Traceback" not in words
    subprocess.run([*command, "out"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([*command, "whole"], cwd=tmp_path, check=True, capture_output=True)
    assert files(tmp_path / "out") == files(tmp_path / "whole")
