"""What reaches the terminal: no escape sequence out of a file, and only what the terminal can show."""

import io
import os
import re
import subprocess
import sys

import pytest
from rich.live import Live
from rich.text import Text

from blox.cli.safe_console import SafeConsole
from blox.cli.terminal import shown

EVIL = "\x1b]0;title\x07\x1b[2J\u202egnp"  # sets the title, clears the screen, turns text round
SAFE = r"\x1b]0;title\x07\x1b[2J\u202egnp"
BELL = r"\x07"


@pytest.fixture
def evil_trace(tmp_path):
    path = tmp_path / "evil.csv"
    lines = [f"{EVIL}{n},0,4,700,{EVIL}" for n in range(4)]
    path.write_text("\n".join(["job_id,submit_s,gpus,duration_s,user", *lines]) + "\n", encoding="utf-8")
    return path


def test_what_steers_a_terminal_is_shown_escaped():
    assert shown(EVIL) == SAFE
    assert shown("plain – ünï, two\nlines\t.") == "plain – ünï, two\nlines\t."
    assert shown("\udcff\x7f\x9b") == r"\udcff\x7f\x9b"


def test_a_console_keeps_its_own_colours(capsys):
    console = SafeConsole(force_terminal=True, color_system="standard", highlight=False)
    console.print(EVIL, style="red", markup=False)
    assert capsys.readouterr().out == f"\x1b[31m{SAFE.replace(BELL, '')}\x1b[0m\n"  # rich drops the bell


@pytest.mark.parametrize("screen", [True, False])
def test_what_is_drawn_again_and_again_steers_no_terminal(screen):
    """`blox top` and bars of progress draw by a hook of rich, after which nothing else escapes."""
    console = SafeConsole(file=io.StringIO(), force_terminal=True, width=80, height=10)
    with Live(Text(f"first {EVIL}"), console=console, screen=screen, auto_refresh=False) as live:
        live.update(Text(f"second {EVIL}"), refresh=True)
    drawn = console.file.getvalue()
    assert "first" in drawn and "second" in drawn and SAFE.replace(BELL, "") in drawn
    assert "\x1b]0;" not in drawn and "\x1b[2J" not in drawn and "\u202e" not in drawn


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--workload", "evil.csv", "--cluster", "1x4", "--out", "out", "--label", EVIL],
        ["explain", "out"],
        ["explain", "out", "--job", f"{EVIL}2"],
        ["explain", "out", "--job", EVIL],
        ["report", "out"],
        ["workload", "describe", "evil.csv"],
        ["workload", "validate", "evil.csv"],
        ["run", "--workload", f"csv:{EVIL}"],
        ["run", "--scheduler", EVIL],
        ["sweep", "--workload", "evil.csv", "--scheduler", EVIL, "--out", EVIL],
        ["run", f"--{EVIL}"],
    ],
)
def test_ids_labels_and_specs_steer_no_terminal(command, evil_trace, monkeypatch, words):
    monkeypatch.chdir(evil_trace.parent)
    if words[0] in ("explain", "report"):
        command("run", "--workload", "evil.csv", "--cluster", "1x4", "--out", "out")
    answer = command(*words)
    assert answer.code in (0, 2)
    for character in "\x1b\x07\u202e":
        assert character not in answer.out + answer.err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_without_unicode_shows_what_it_can(encoding, tmp_path):
    """The locale is that of an old system: no encoding but ASCII, for files neither."""
    old = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    (tmp_path / "t.csv").write_text("job_id,submit_s,gpus,duration_s\nä漢,0,1,60\n", encoding="utf-8")
    (tmp_path / "e.toml").write_text('workload = "t.csv"\nlabel = "für 漢"\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "blox", "run", "e.toml", "--out", "out", "--report"],
        capture_output=True, cwd=tmp_path, env={**os.environ, **old},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert "JCT" in text and r"\u6f22" in text and (r"f\xfcr" if encoding == "ascii" else "für") in text
    assert "ä漢,,,,1" in (tmp_path / "out" / "jobs.csv").read_text(encoding="utf-8")
    assert 'label = "für 漢"' in (tmp_path / "out" / "experiment.toml").read_text(encoding="utf-8")


def test_no_file_is_opened_in_the_encoding_of_the_locale(project):
    """Text is UTF-8 everywhere; a call that names no encoding takes the locale's."""
    named = ("encoding=", '"rb"', '"wb"', "os.open(", "files.write_text(")
    found = [
        f"{path.relative_to(project)}:{number}"
        for path in sorted((project / "src").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\.(read_text\(|write_text\(|open\([\"'n)])", line)
        and not any(each in line for each in named)
    ]
    assert found == []
