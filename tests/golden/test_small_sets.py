"""A clone without the shared folder compares the presets with every original, and says what it lacks."""

import os
import subprocess
import sys

import pytest

from support.goldens import SMALL, WHOLE, absent_set, cases_by_file, listed_cases, worked_examples
from support.places import ROOT

SETS = {
    "blox": listed_cases,
    "gavel/allocations": cases_by_file,
    "gavel/sim": listed_cases,
    "optimus.json": worked_examples,
    "pollux/functions": cases_by_file,
    "synergy": listed_cases,
    "themis.json": worked_examples,
    "tiresias": listed_cases,
}


@pytest.mark.parametrize("name", SETS)
def test_every_original_has_small_cases(name):
    assert any(case["origin"] == SMALL / name for case in SETS[name](name))


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        (f"Skipped: absent: {WHOLE / 'blox'}; 12 small cases were run", "blox"),
        (f"Skipped: absent: {WHOLE / 'gavel' / 'sim'}", "gavel/sim"),
        ("Skipped: absent: /proc", ""),
        ("Skipped: got empty parameter set for (case)", ""),
    ],
)
def test_absent_sets_are_told_from_other_reasons(reason, name):
    assert absent_set(reason) == name


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_run_ends_by_naming_what_is_absent(tmp_path, workers):
    words = [sys.executable, "-m", "pytest", "-n", workers, "-p", "no:cacheprovider"]
    files = ["tests/golden/test_themis.py", "tests/golden/test_optimus.py"]
    environment = {**os.environ, "BLOX_SHARED": str(tmp_path)}
    done = subprocess.run(
        [*words, *files], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout
    assert (
        f"goldens absent from {tmp_path}/goldens: optimus.json, themis.json" in done.stdout.splitlines()[-2:]
    )
