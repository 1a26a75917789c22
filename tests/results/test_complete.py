"""Results whose files are cut off are not taken as finished."""

import shutil

import pytest

from blox import Experiment
from blox.experiment.run_folders import is_finished
from blox.results.complete import is_complete
from support.traces import trace


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    experiment = Experiment(workload=trace(folder / "jobs.csv", "a,0,1,1000 b,0,1,1000 c,5,1,70"))
    return experiment, experiment.run().save(folder / "out")


def test_what_was_saved_is_complete(saved):
    assert is_complete(saved[1])
    assert is_finished(saved[1], saved[0])


@pytest.mark.parametrize(
    "name", ["jobs.csv", "summary.json", "timing.json", "rounds.parquet", "stints.parquet"]
)
@pytest.mark.parametrize("left", [0, 0.5, -1, -2])
def test_a_file_that_is_cut_off_is_not_finished(saved, tmp_path, name, left):
    experiment, directory = saved
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    data = (copy / name).read_bytes()
    (copy / name).write_bytes(data[: int(len(data) * left) if left >= 0 else left])
    if name.endswith(".json") and left == -1:
        assert is_finished(copy, experiment), "it lacks its last line end and nothing else"
    else:
        assert not is_finished(copy, experiment)


def test_a_line_of_jobs_that_is_missing_is_noticed(saved, tmp_path):
    experiment, directory = saved
    copy = tmp_path / "copy"
    shutil.copytree(directory, copy)
    lines = (copy / "jobs.csv").read_text().splitlines(keepends=True)
    (copy / "jobs.csv").write_text("".join(lines[:-1]))
    assert not is_finished(copy, experiment)
