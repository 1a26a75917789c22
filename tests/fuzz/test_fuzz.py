"""Thousands of hostile cases, seeded: 2,000 in `make test`, 50,000 in `make fuzz` (BLOX_FUZZ_CASES).

One case alone: BLOX_FUZZ_CASE=readers:123 pytest tests/fuzz
"""

import os
import random
import shutil
import warnings
from importlib import import_module

import pytest

from blox.errors import BloxError
from blox.foreign import user_fault
from fuzz.limits import limits

KINDS = ("readers", "specs", "toml_files", "damaged_results", "profile_tables", "policies")
CASES = int(os.environ.get("BLOX_FUZZ_CASES", "2000"))
AT_ONCE = 40  # cases of one test


def batches():
    """(kind, numbers of cases): the same share of each kind."""
    if only := os.environ.get("BLOX_FUZZ_CASE"):
        kind, _, number = only.partition(":")
        return [(kind, [int(number)])]
    each = -(-CASES // len(KINDS))
    starts = range(0, each, AT_ONCE)
    return [(kind, range(start, min(start + AT_ONCE, each))) for start in starts for kind in KINDS]


@pytest.mark.parametrize(("kind", "numbers"), batches(), ids=lambda value: str(value).replace("range", ""))
def test_every_case_is_answered(kind, numbers, tmp_path, monkeypatch):
    case = import_module(f"fuzz.{kind}").case
    monkeypatch.setenv("COLUMNS", "100")
    faults = []
    for number in numbers:
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        try:
            with limits(), warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)  # numpy met what was not foreseen
                case(random.Random(f"{kind}:{number}"), folder)
        except BloxError as error:
            assert error.text().strip() and len(error.text()) < 10_000
        except BaseException as error:
            if user_fault(error) is not None:  # out of a user's file: the command line tells it with its line
                continue
            if os.environ.get("BLOX_FUZZ_CASE"):
                raise
            faults.append(f"BLOX_FUZZ_CASE={kind}:{number}  {type(error).__name__}: {str(error)[:200]}")
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(folder)
    assert not faults, "\n" + "\n".join(faults)
