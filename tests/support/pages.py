"""Follows a page of the docs as a reader would: saves the files that it shows, types its commands."""

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from support.places import ROOT

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL_MARKS = set("|;&<>$`*")


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def shell(command, folder):
    """Runs a line as a reader would, in `folder`, 100 columns wide, with this environment's `blox` at hand.

    A line that calls blox and nothing else runs in this process, by the very function behind the command:
    starting an interpreter takes longer than most of them. It has one core, so that it starts no further
    processes.
    """
    words = shlex.split(command)
    unquoted = re.sub(r"'[^']*'", "", command)
    if words[0] == "blox" and not _SHELL_MARKS & set(unquoted):
        return _in_this_process(words[1:], folder)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: os.sched_setaffinity(0, {_core()}),
    )
    return Done(done.returncode, done.stdout, done.stderr)


def _core():
    """The core of this worker among those of the machine."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    cores = sorted(os.sched_getaffinity(0))
    return cores[worker % len(cores)]


def _in_this_process(words, folder):
    from blox.cli.main import answer

    cores, columns = os.sched_getaffinity(0), os.environ.get("COLUMNS")
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            os.environ["COLUMNS"] = "100"
            os.sched_setaffinity(0, {_core()})
            try:
                code = answer(words)
            finally:
                os.sched_setaffinity(0, cores)
                if columns is None:
                    del os.environ["COLUMNS"]
                else:
                    os.environ["COLUMNS"] = columns
        return Done(code, *(file.read() for file in (out, err) if file.seek(0) == 0))


def blocks(text, kind):
    """The fenced blocks of a kind."""
    return [content for found, content in FENCED.findall(text) if found == kind]


def commands(text):
    """The lines that a reader is told to type, in order, if they call blox or Python, with what is shown of
    their output."""
    found = []
    for block in blocks(text, "console"):
        for line in block.splitlines():
            if line.startswith(("$ blox ", "$ python ")):
                found.append((line[2:], []))
            elif found and not line.startswith("$ "):
                found[-1][1].append(line)
    return found


def section(text, heading):
    """A page from a heading to the next one of its level."""
    level = heading.split()[0]
    begin = text.index(f"\n{heading}\n")
    end = re.compile(rf"^#{{1,{len(level)}}} ", re.MULTILINE).search(text, begin + len(heading) + 2)
    return text[begin : end.start() if end else None]


def follow(text, folder, smaller=()):
    """Saves the files that a page shows ("as `name.py`:") and types its commands; returns their output.

    `smaller` are (words, other words) by which files and commands are made quicker.
    """
    text = text.read_text() if isinstance(text, Path) else text
    for name, content in re.findall(
        r"as `([\w-]+\.\w+)`:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    ):
        for words, others in smaller:
            content = content.replace(words, others)
        (folder / name).write_text(content)
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    typed = {}
    for command, _ in commands(text):
        for words, others in smaller:
            command = command.replace(words, others)
        done = shell(command, folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, f"{command}\n{done.stderr}"
        typed[command] = done.stdout
    return typed


def check_shown(page, typed):
    """What a page shows of a command's output is what it prints, but for the last word of a line: speeds."""
    for command, shown in commands(page.read_text()):
        printed = {line.rstrip() for line in typed[command].splitlines()}
        less_one = {line.rpartition(" ")[0].rstrip() for line in printed}
        for line in shown:
            known = line in printed or line.rpartition(" ")[0].rstrip() in less_one
            assert known or line.strip() == "...", f"{page.name}: {command}\nprints no line\n{line}"
