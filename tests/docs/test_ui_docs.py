"""docs/ui.md, followed: what it types gives what it says."""

import re
import subprocess
import sys
import urllib.request

import pytest

from support.pages import follow, shell
from support.places import ROOT

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "ui.md").read_text()


def test_the_page_can_be_followed(tmp_path):
    """All but the commands that serve until they are interrupted; of those the film is opened, once."""
    served = re.findall(r"^\$ (blox (?:ui|up)\b.*)\n", PAGE, re.MULTILINE)
    assert served == ["blox ui results/small/fifo results/small/las", "blox up --nodes 4 --gpus 4", "blox ui"]
    typed = follow(re.sub(r"^\$ blox (ui|up)\b.*\n", "", PAGE, flags=re.MULTILINE), tmp_path)
    assert len(typed) == 4
    report = (tmp_path / "results" / "small.html").read_text()
    for heading in (
        "By GPU count",
        "Stories of the longest waits",
        "Fairness between tenants",
        "GPUs by job",
    ):
        assert f"<h2>{heading}</h2>" in report
    shown = next(text for command, text in typed.items() if command.startswith("blox top"))
    assert "12 h of" in shown and "of 12 in use" in shown and "waiting (by submission" in shown
    pictures = {path.name for path in (tmp_path / "results" / "pictures").iterdir()}
    assert {f"{name}.{kind}" for name in _pictures() for kind in ("pdf", "svg")} <= pictures
    command = [sys.executable, "-m", *served[0].split(), "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().split(" at ")[1].split()[0]
            assert b"film/main.js" in urllib.request.urlopen(address, timeout=300).read()
        finally:
            process.kill()


def _pictures():
    """The pictures that the page names."""
    return re.findall(r"`(averages|normalised|by_model|by_model_normalised)`", PAGE)


def test_every_option_that_it_names_is_there(tmp_path):
    told = {command: shell(f"blox {command} --help", tmp_path).stdout for command in ("report", "top", "ui")}
    for command, options in (
        ("report", ("--pictures", "--baseline", "--by", "--format")),
        ("top", ("--at", "--once")),
        ("ui", ("--open", "--host")),
    ):
        for option in options:
            assert option in PAGE and option in told[command]
