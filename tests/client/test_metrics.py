"""Numbers that a training script tells the scheduler."""

import json
import subprocess

import numpy as np
import pytest

from blox.client import BloxDataLoader, MetricsCollector
from blox.client.page import LeasePage
from blox.cluster.shell.ranks import Rank


@pytest.fixture
def rank(tmp_path, monkeypatch):
    """A rank as its worker manager sees it."""
    page = LeasePage.create(tmp_path / "lease")
    monkeypatch.setenv("BLOX_LEASE", str(tmp_path / "lease"))
    monkeypatch.setenv("BLOX_RANK_DIRECTORY", str(tmp_path))
    monkeypatch.delenv("BLOX_CHECKPOINT", raising=False)
    with subprocess.Popen(["true"]) as guard:
        return Rank(guard, page, tmp_path)


def test_what_is_pushed_reaches_the_worker_manager(rank):
    metrics = MetricsCollector()
    metrics.push("loss", np.float32(0.5))
    metrics.push("bad", float("nan"))
    metrics.push("steps", 3)
    metrics.flush()
    assert rank.metrics() == {"loss": 0.5, "steps": 3.0}


def test_the_loader_pushes_iteration_times_beside_what_the_script_pushes(rank):
    own = MetricsCollector()
    loader = BloxDataLoader(range(3))
    for number in loader.epochs(1):
        for item in loader:
            own.push("item", item)
            loader.metrics.push("pass", number)
    own.flush()
    found = rank.metrics()
    assert found.pop("iteration_s") > 0
    assert found == {"item": 2.0, "pass": 0.0}


def test_values_are_written_at_most_twice_a_second(rank, tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("blox.client.metrics.time.monotonic", lambda: now[0])
    metrics = MetricsCollector()
    written = []
    for value in range(1000):
        now[0] += 0.001
        metrics.push("loss", value)
        written.append(json.loads(next(tmp_path.glob("metrics-*.json")).read_text())["loss"])
    assert len(set(written)) == 2
    metrics.flush()
    (file,) = tmp_path.glob("metrics-*.json")
    assert json.loads(file.read_text())["loss"] == 999


def test_a_file_that_is_none_of_ours_is_passed_over(rank, tmp_path):
    (tmp_path / "metrics-0.json").write_text('{"loss": "low"}')
    (tmp_path / "metrics-1.json").write_text("{")
    assert rank.metrics() == {}


@pytest.mark.parametrize(
    ("name", "value"), [("", 1.0), ("x" * 101, 1.0), (3, 1.0), ("loss", "low"), ("loss", [1])]
)
def test_what_is_no_number_or_has_no_name_is_refused(name, value):
    with pytest.raises((TypeError, ValueError)):
        MetricsCollector().push(name, value)


def test_a_hundred_names_are_enough():
    metrics = MetricsCollector()
    for number in range(100):
        metrics.push(str(number), number)
    with pytest.raises(ValueError, match="more than 100"):
        metrics.push("one more", 1)


def test_means_are_of_what_came_since_the_last_write(rank, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("blox.client.metrics.time.monotonic", lambda: now[0])
    metrics = MetricsCollector()
    metrics.push_mean("seconds", 100.0)  # written at once
    for value in (1.0, 2.0, 6.0):
        metrics.push_mean("seconds", value)
    now[0] += 1.0
    metrics.push_mean("seconds", 3.0)
    assert rank._read_metrics() == {"seconds": 3.0}
    metrics.push_mean("seconds", 7.0)
    metrics.flush()
    assert rank._read_metrics() == {"seconds": 7.0}


class SlowToSave:
    """A checkpoint that takes an hour of the clock; an iteration takes as long as its item says."""

    def __init__(self, clock):
        self.clock = clock

    def load(self):
        return None

    def save(self, position):
        self.clock[0] += 3600.0


def test_iteration_times_are_means_without_checkpoints(rank, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("blox.client.loader.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr(
        "blox.client.metrics.time.monotonic", lambda: 0.0
    )  # writes at the first, and at the end
    loader = BloxDataLoader([9.0, 1.0, 2.0, 3.0], SlowToSave(clock), every=2)
    for _ in loader.epochs(1):
        for item in loader:
            clock[0] += item
    assert clock[0] > 3600.0 and rank._read_metrics() == {"iteration_s": 2.0}
