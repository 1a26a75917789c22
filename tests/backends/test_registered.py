"""Backends are parts like all others: a name with options, or a class in a file, and no edit elsewhere."""

import pytest

from blox import registry
from blox.errors import BloxError
from blox.experiment.settings import Experiment

MINE = '''
from dataclasses import dataclass

import numpy as np

from blox.backends.simulation import Simulation


class Slow(Simulation):
    """Every launch takes so many seconds longer."""

    slower_s = 0.0

    def _delay(self, grants, cluster_state, job_state):
        return super()._delay(grants, cluster_state, job_state) + self.slower_s


@dataclass(frozen=True)
class Mine:
    """A simulation in which starting is slow."""

    slower_s: float = 100.0

    def open(self, setup):
        backend = Slow(setup)
        backend.slower_s = self.slower_s
        return backend


class ByNode(Simulation):
    """A job starts slower on nodes of a higher number: as many seconds as the highest of its nodes."""

    def _delay(self, grants, cluster_state, job_state):
        nodes = [cluster_state.gpu_node[grants.gpus_of(row)].max() for row in grants.jobs]
        return super()._delay(grants, cluster_state, job_state) + np.array(nodes, dtype=float)


class Nodes:
    def open(self, setup):
        return ByNode(setup)


class Nothing:
    def open(self, setup):
        return object()


class Verbless:
    pass
'''
SIMULATED_SETTINGS = {"compat": "blox", "overheads": "launch=3", "performance": "spread"}
SETTINGS = {"workload": "constant:jobs=3", "cluster": "1x4", "round_s": 60.0}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Stands where `mine.py` is."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)


def finish_s(backend):
    return Experiment(**SETTINGS, backend=backend).run().jobs["finish_s"].tolist()


def test_a_backend_is_one_file(mine):
    usual = finish_s("simulation")
    assert finish_s("./mine.py:Mine") == [end + 100.0 for end in usual]
    assert finish_s("./mine.py:Mine:slower_s=7") == [end + 7.0 for end in usual]


def test_what_a_start_costs_may_depend_on_the_nodes_of_a_job(mine):
    settings = {"workload": "constant:jobs=3,job_gpus=4,every_s=0", "cluster": "3x4", "round_s": 60.0}
    usual, by_node = (
        Experiment(**settings, backend=backend).run().jobs["finish_s"]
        for backend in ("simulation", "./mine.py:Nodes")
    )
    assert (by_node - usual).tolist() == [0.0, 1.0, 2.0]


def test_its_bytes_are_recorded_with_the_results(mine):
    result = Experiment(**SETTINGS, backend="./mine.py:Mine").run()
    assert "backend_file_sha256" in result.experiment["provenance"]


@pytest.mark.parametrize(
    ("backend", "what"),
    [
        ("simulator", "no backend part is called 'simulator'"),
        ("replay:speed=2", "no parameter is called 'speed'"),
        ("replay:speedup=0", "speedup is 0.0"),
        ("replay:job=dance", "'dance' is not one of the choices"),
        ("replay:speedup=5", "real processes are started by a command of their own"),
        ("./mine.py:Verbless", "Verbless has no method open()"),
        ("./mine.py:Nothing", "object has no adjust"),
    ],
)
def test_a_wrong_backend_is_refused_in_words(mine, backend, what):
    with pytest.raises(BloxError) as told:
        Experiment(**SETTINGS, backend=backend).run()
    assert told.value.what == what
    assert told.value.fix


@pytest.mark.parametrize(
    "setting", [{"compat": "blox"}, {"overheads": "launch=3"}, {"performance": "spread"}]
)
def test_a_backend_in_real_time_takes_no_settings_of_a_simulation(setting):
    with pytest.raises(BloxError, match="with the backend replay:speedup=5"):
        Experiment(**SETTINGS, backend="replay:speedup=5", **setting).prepare()


def test_every_backend_is_in_the_catalogue(command):
    answer = command("policies", "backends")
    assert answer.code == 0
    for name in registry.names("backend"):
        assert f"  {name}" in answer.out
