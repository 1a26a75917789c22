"""What several folders of tests need: where the shared folder is, and the command line."""

import sys
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from support.browser import absent
from support.goldens import WHOLE, absent_set
from support.places import ROOT, SAMPLES, SHARED
from support.traces import HEADER, trace

settings.register_profile("same-every-time", derandomize=True, deadline=None)
settings.load_profile("same-every-time")


@pytest.fixture(scope="session", autouse=True)
def _installed_parts():
    """Installed packages are asked for parts once, unless a test installs one: it takes 20 ms each time."""
    from blox.registry import known_parts

    look, path = known_parts._entry_points, set(sys.path)
    known = cache(look)

    def parts(kind: str):
        installed = any(any(Path(place).glob("*.dist-info")) for place in set(sys.path) - path)
        return look(kind) if installed else known(kind)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_parts, "_entry_points", parts)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """The folders of policies that a test has loaded leave the path of imports with it.

    After hundreds of tests, every import and every look at what is installed would search all of them.
    """
    path = list(sys.path)
    try:
        return (yield)
    finally:
        sys.path[:] = path


@pytest.fixture
def shared():
    """A function that finds a file of the shared folder, or skips naming the one that is absent."""

    def find(path: str) -> Path:
        if not (SHARED / path).exists():
            pytest.skip(f"absent: {SHARED / path}")
        return SHARED / path

    return find


@pytest.fixture
def project() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture
def samples() -> Path:
    """The folder of small traces of our own making, one in every format."""
    return SAMPLES


POLICY_HEADER = """\
import random
from dataclasses import dataclass, field, replace
import numpy as np
from blox import Allocation, Schedule
"""


@pytest.fixture
def policy_file(tmp_path, monkeypatch):
    """Writes a policy file and returns the spec of its class `Mine`; line 5 is the first of the text."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> str:
        (tmp_path / "mine.py").write_text(POLICY_HEADER + textwrap.dedent(text).lstrip("\n"))
        return "./mine.py:Mine"

    return write


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that installs a package of one module: its text, and the class of each kind of part.

    The part is called `theirs`; the module is `site/theirs_parts.py` in the test's folder, where one is.
    """
    from blox.registry import known_parts

    site, provided = tmp_path / "site", []
    monkeypatch.chdir(tmp_path)

    def install(text: str, **classes: str) -> None:
        info = site / "theirs-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "theirs_parts.py").write_text(textwrap.dedent(text).lstrip("\n"))
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
        entries = [f"[blox.{kind}]\ntheirs = theirs_parts:{name}\n" for kind, name in classes.items()]
        (info / "entry_points.txt").write_text("".join(entries))
        monkeypatch.syspath_prepend(site)
        provided.extend(classes)

    yield install
    for kind in provided:
        known_parts._classes[kind].pop("theirs", None)
    sys.modules.pop("theirs_parts", None)


@pytest.fixture
def run(tmp_path):
    """A function that runs a few jobs, on one node of 4 GPUs and in rounds of 100 s unless told otherwise."""
    from blox import Experiment

    def run(jobs, cluster="1x4", *, header=HEADER, round_s=100.0, **settings):
        workload = trace(tmp_path / "jobs.csv", jobs, header)
        return Experiment(workload=workload, cluster=cluster, round_s=round_s, **settings).run()

    return run


@dataclass(frozen=True)
class Answer:
    """What a command answered."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(capsys, monkeypatch):
    """A function that runs the command line as a user types it, in this process, 100 columns wide."""
    from blox.cli.main import answer

    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: object) -> Answer:
        capsys.readouterr()
        code = answer([str(word) for word in words])
        return Answer(code, *capsys.readouterr())

    return run


# Tests that run where their marker is asked for, and are skipped elsewhere, with what is said of them.
APART = {
    "torch": "tests of real training (make test-torch runs them)",
    "browser": "tests of pages in a browser (make test-ui runs them)",
}


def pytest_collection_modifyitems(config, items):
    """Tests that need what is large or rare are skipped by name, unless they are asked for."""
    for marker, words in APART.items():
        if marker not in config.option.markexpr:
            for item in items:
                if item.get_closest_marker(marker):
                    item.add_marker(pytest.mark.skip(reason=words))


def pytest_terminal_summary(terminalreporter):
    """Names, at the end, what was left out: for want of torch, of a browser, of goldens."""
    reasons = [report.longrepr[2] for report in terminalreporter.stats.get("skipped", ())]
    for marker, words in APART.items():
        if count := sum(words in reason for reason in reasons):
            lacking = absent() if marker == "browser" else []
            here = f"; absent here: {', '.join(lacking)}" if lacking else ""
            terminalreporter.write_line(f"left out: {count} {words}{here}")
    without = sorted({name for reason in reasons if (name := absent_set(reason))})
    if without:
        terminalreporter.write_line(f"goldens absent from {WHOLE}: {', '.join(without)}")
