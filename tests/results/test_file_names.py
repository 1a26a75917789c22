"""No name of a folder or file changes the data that is read from it: a path is a path, never a pattern."""

import shutil

import numpy as np
import pytest

from blox import Experiment
from blox.results.files import read_rounds, write_parquet
from blox.results.result import Result

NAMES = [
    "job=5",  # would be read as a partition, and replace the column `job`
    "gpu=v100/las",
    "time_s=0/held=9",
    "run[1]",
    "run[!1]",
    "run*",
    "run?",
    "run{1,2}",
    "**",
    "it's",
    'a "quoted" name',
    "two words",
    "Läufe-実行",
    "~",
    "$HOME",
    "%20",
    "s3:/bucket",
    "back\\slash",
    "a;b--c",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run as it is read back from a directory with a plain name."""
    place = tmp_path_factory.mktemp("plain") / "plain"
    return Result.load(Experiment(workload="constant", cluster="2x4", jobs=6).run().save(place))


@pytest.fixture(scope="module")
def decoy(tmp_path_factory):
    """The directory of another run, of other jobs: what a pattern would find."""
    run = Experiment(workload="constant:every_s=60", cluster="1x2", jobs=6, scheduler="las").run()
    return run.save(tmp_path_factory.mktemp("decoy") / "decoy")


def tables(result):
    """Its tables as plain values; an empty cell, such as a deadline that no job has, is None."""
    return {
        kind: {
            name: [None if value != value else value for value in np.asarray(column).tolist()]
            for name, column in table.items()
        }
        for kind, table in (("jobs", result.jobs), ("rounds", result.rounds), ("stints", result.stints))
    }


@pytest.mark.parametrize("name", NAMES)
def test_results_are_the_same_under_any_name(run, decoy, tmp_path, name):
    for other in ("run1", "runs", "run", "deep/er"):
        shutil.copytree(decoy, tmp_path / other)
    run.save(tmp_path / name)
    assert tables(Result.load(tmp_path / name)) == tables(run)


def test_a_relative_name_is_a_path_too(run, decoy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(decoy, "run1")
    run.save("run[1]")
    run.save("~")
    assert tables(Result.load("run[1]")) == tables(Result.load("~")) == tables(run)


def test_a_folder_name_adds_no_column(run, tmp_path):
    run.save(tmp_path / "load=8")
    loaded = Result.load(tmp_path / "load=8")
    assert list(loaded.rounds) == list(run.rounds)
    assert list(loaded.stints) == list(run.stints)


def test_names_of_single_files(tmp_path):
    """A table is written to and read from the very file that is named."""
    from blox.recording.recorder import ROUND_COLUMNS

    for number, name in enumerate(("a1.parquet", "a[1].parquet", "a=1.parquet", "it's.parquet")):
        write_parquet(tmp_path / name, {column: np.full(2, number) for column in ROUND_COLUMNS})
    for number, name in enumerate(("a1.parquet", "a[1].parquet", "a=1.parquet", "it's.parquet")):
        assert read_rounds(tmp_path / name)["held"].tolist() == [number, number]
