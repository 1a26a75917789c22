"""Where the results of a run go by its settings alone, and whether they are there already."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
import unicodedata
from dataclasses import replace
from pathlib import Path

from blox.disk.toml_text import to_toml
from blox.experiment.parallel import Outcome, Task
from blox.experiment.settings import Experiment
from blox.files_read import changed_since
from blox.results.complete import is_complete
from blox.results.names import short_name
from blox.results.provenance import provenance
from blox.results.result import Result, label_of
from blox.workloads.spec import workload_from_spec

LONGEST_NAME = 220  # bytes of the name of a folder: file systems take 255, drafts of results some more


def run_name(experiment: Experiment) -> str:
    """A directory name for a run that depends on its settings alone: `las-philly-load=8-s1-3fa94c21`."""
    words = [label_of(experiment.to_table()), short_name(experiment.workload)]
    return f"{slug('-'.join(words))[:60]}-s{experiment.seed}-{digest_of(experiment)}"


def digest_of(experiment: Experiment) -> str:
    """Eight hexadecimal digits that stand for the settings; what the run is called changes nothing."""
    settings = replace(experiment, label="").to_table()
    return hashlib.sha256(to_toml(settings).encode()).hexdigest()[:8]


def run_directory(folder: Path, experiment: Experiment) -> Path:
    """Where the results of a run go, or are already, under whatever label they were made."""
    known = sorted(folder.glob(f"*-s{experiment.seed}-{digest_of(experiment)}"))
    return known[0] if known else folder / run_name(experiment)


def slug(text: str) -> str:
    """A text as the name of a folder: its letters and digits, of any script that paths may have, and =+._

    A long name is cut, and told from others by a checksum.
    """
    encoding = sys.getfilesystemencoding()
    letters = unicodedata.normalize("NFC", text).encode(encoding, "replace").decode(encoding)
    name = re.sub(r"[^\w=+.]+", "-", letters).strip("-.") or "run"
    if len(name.encode()) <= LONGEST_NAME:
        return name
    checksum = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{name.encode()[:LONGEST_NAME].decode(errors='ignore')}-{checksum}"


def is_finished(directory: Path, experiment: Experiment) -> bool:
    """Whether a directory holds the whole results of exactly this experiment, version and input files."""
    if not is_complete(directory):
        return False
    try:
        kept = tomllib.loads((directory / "experiment.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    recorded = kept.pop("provenance", None)
    if not isinstance(recorded, dict):
        return False
    settings = experiment.to_table()
    now = provenance(settings, workload_from_spec(experiment.workload))
    same = {**kept, "label": ""} == {**settings, "label": ""}
    same = same and all(recorded.get(key) == value for key, value in now.items())
    return same and not changed_since(recorded.get("read_files"))


def finished_outcome(task: Task) -> Outcome | None:
    """The outcome of a task whose results are there already; None if it must be run."""
    directory = task.directory
    if directory is None or not is_finished(directory, task.experiment):
        return None
    try:
        experiment = tomllib.loads((directory / "experiment.toml").read_text(encoding="utf-8"))
        summary, timing = (
            json.loads((directory / f"{name}.json").read_text(encoding="utf-8"))
            for name in ("summary", "timing")
        )
    except (OSError, ValueError, RecursionError):
        return None
    experiment["label"] = task.experiment.label  # it may have been made under another
    return Outcome(task, Result(label_of(experiment), experiment, summary, {}, {}, {}, timing))
