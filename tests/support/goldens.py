"""Where results of the originals come from, and what is said where they are absent.

A set of them is a folder or a file. Whole sets are in `$BLOX_SHARED/goldens`, by default `../shared/goldens`;
small ones, which every clone has, in `tests/golden/data`. The cases of both are run.
"""

import csv
import json
from pathlib import Path

import pytest

from support.places import ROOT, SHARED

WHOLE = SHARED / "goldens"
SMALL = ROOT / "tests" / "golden" / "data"


def rows_of(path: Path) -> list[dict]:
    """The rows of a CSV file."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def places_of(name: str) -> list[Path]:
    """Where a set is: in the shared folder, in the project, in both, or nowhere."""
    return [place / name for place in (WHOLE, SMALL) if (place / name).exists()]


def label(case: dict, name: str) -> str:
    """The id of a case; those of the project are told from those of the shared folder."""
    return name if case["origin"].is_relative_to(WHOLE) else f"small-{name}"


def listed_cases(name: str) -> list[dict]:
    """The rows of `summary.csv` of a set, each with its `origin`: the folder that its files are in."""
    summaries = [place / "summary.csv" for place in places_of(name)]
    return [{**row, "origin": path.parent} for path in summaries if path.is_file() for row in rows_of(path)]


def worked_examples(name: str) -> list[dict]:
    """The entries of a set that is one JSON file, each with its `origin`."""
    return [{**case, "origin": place} for place in places_of(name) for case in json.loads(place.read_text())]


def cases_by_file(name: str) -> list[dict]:
    """The `cases` of every JSON file of a set, with `origin`, `file`, `number` and the file's `content`."""
    found = []
    for place in places_of(name):
        for path in sorted(place.glob("*.json")):
            content = json.loads(path.read_text())
            given = {"origin": place, "file": path.stem, "content": content}
            found += [{**case, **given, "number": number} for number, case in enumerate(content["cases"])]
    return found


def check_cases(name: str, cases: list[dict]) -> None:
    """Fails where a set that is there yields no case; skips, naming it, where the whole set is absent."""
    whole = WHOLE / name
    if whole.exists():
        assert any(case["origin"] == whole for case in cases), f"{whole} holds no case to compare"
    else:
        few = f"; {len(cases)} small cases were run" if cases else ""
        pytest.skip(f"absent: {whole}{few}")


def absent_set(reason: str) -> str:
    """The set of goldens for want of which a test was skipped, by the reason of the skip; else empty."""
    path = reason.removeprefix("Skipped: ").removeprefix("absent: ").split(";")[0].split(",")[0]
    return Path(path).relative_to(WHOLE).as_posix() if Path(path).is_relative_to(WHOLE) else ""
