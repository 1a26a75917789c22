"""An experiment in Python: the same settings give the same table, and wrong ones are told in words."""

import dataclasses
import inspect
import json
from dataclasses import dataclass

import numpy as np
import pytest

import blox
from blox import BloxError, Experiment, Schedule
from blox.registry import load_class


def test_whole_numbers_stand_for_seconds():
    whole = Experiment(workload="constant", jobs=5, round_s=300, seed=np.int64(1))
    exact = Experiment(workload="constant", jobs=5, round_s=300.0, seed=1)
    assert whole == exact
    assert json.dumps(whole.run().summary) == json.dumps(exact.run().summary)


def test_a_policy_stands_for_its_spec():
    assert Experiment(scheduler=blox.schedulers.Las(by="time")).scheduler == "las:by=time"
    assert Experiment(placement=blox.placement.Consolidated()).placement == "consolidated"


@dataclass(frozen=True)
class Mine:
    """Large jobs first, by `k`."""

    k: float = 1.0

    def schedule(self, job_state, cluster_state):
        return Schedule.ordered(job_state, by=-self.k * job_state.gpus)


def test_a_policy_of_ones_own_runs_and_is_not_saved(tmp_path):
    result = Experiment(workload="constant", jobs=5, scheduler=Mine(k=2)).run()
    assert result.summary["finished"] == 5
    assert result.label == "Mine(k=2)"
    with pytest.raises(BloxError, match="known to this program alone") as told:
        result.save(tmp_path / "x")
    assert 'scheduler="./mine.py:Mine"' in str(told.value)
    assert not list(tmp_path.iterdir())


def test_a_policy_of_a_file_stands_for_its_spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "from dataclasses import dataclass\n" + inspect.getsource(Mine)
    (tmp_path / "mine.py").write_text(code)
    policy = load_class("./mine.py", "Mine")(k=2)
    assert Experiment(scheduler=policy).scheduler == "./mine.py:Mine:k=2"


def test_a_policy_that_inherits_from_a_built_in_one_is_not_taken_for_it():
    @dataclass(frozen=True)
    class Backwards(blox.schedulers.Fifo):
        """Last come, first served."""

        def schedule(self, job_state, cluster_state):
            return Schedule.ordered(job_state, by=-job_state.submit_s)

    mine = Experiment(
        scheduler=Backwards(), workload="constant:every_s=10,duration_s=600", cluster="1x1", jobs=9
    )
    assert mine.scheduler == Backwards()
    order = np.argsort(mine.run().jobs["first_start_s"])
    assert order.tolist() != sorted(order.tolist())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"window": (1, 5)}, "FIRST-LAST"),
        ({"window": None}, "FIRST-LAST"),
        ({"scheduler": ["fifo", "las"]}, "blox compare"),
        ({"scheduler": Mine}, r"Mine\(\)"),
        ({"scheduler": 4}, "a text in quotes"),
        ({"workload": Mine()}, "a text in quotes"),
        ({"cluster": None}, "a text in quotes"),
        ({"workload": 123}, "a text in quotes"),
        ({"seed": 1.0}, "a whole number"),
        ({"seed": None}, "a whole number"),
        ({"seed": True}, "a whole number"),
        ({"jobs": "5"}, "a whole number"),
        ({"jobs": 3.0}, "a whole number"),
        ({"round_s": "300"}, "a number"),
        ({"label": 3}, "a text in quotes"),
    ],
)
def test_a_setting_of_the_wrong_type_is_told(settings, words):
    with pytest.raises(BloxError, match=words) as told:
        Experiment(**settings)
    assert next(iter(settings)) in str(told.value)


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"round": 300}, "did you mean 'round_s'?"),
        ({"sheduler": "las"}, "did you mean 'scheduler'?"),
        ({"seeds": 5}, "replicate"),
    ],
)
def test_a_setting_that_there_is_not_is_told(settings, words):
    (name,) = settings
    for make in (Experiment, lambda **given: dataclasses.replace(Experiment(), **given)):
        with pytest.raises(BloxError, match=f"no setting is called '{name}'") as told:
            make(**settings)
        assert words in told.value.fix
    assert list(inspect.signature(Experiment).parameters)[:2] == ["workload", "cluster"]


def test_what_a_preset_decides_is_not_recorded_as_something_else():
    table = Experiment(compat="blox:policy=Las").to_table()
    assert "scheduler" not in table and table["compat"] == "blox:policy=Las"
    assert Experiment.from_table(table, where="here") == Experiment(compat="blox:policy=Las")


def test_a_preset_of_whole_rounds_refuses_the_events_clock():
    with pytest.raises(BloxError, match="whole rounds"):
        Experiment(workload="constant", jobs=3, compat="blox", clock="events").prepare()


def test_a_result_introduces_itself():
    result = Experiment(workload="constant", jobs=5).run()
    assert repr(result).startswith("Result('fifo', jobs=5, finished=5, avg_jct_s=")


def test_a_job_that_is_ended_while_it_waits_has_not_run(tmp_path, run):
    """b never runs: ended by the policy at 600 s, it has waited all the time."""
    policy = tmp_path / "impatient.py"
    policy.write_text(
        "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Impatient:\n"
        '    """Ends jobs that wait at 600 s."""\n\n'
        "    def terminate(self, job_state, cluster_state):\n"
        "        return job_state.active[(job_state.now >= 600) & ~job_state.running]\n"
    )
    result = run("a,0,1,1000 b,0,1,1000", "1x1", termination=f"{policy}:Impatient", round_s=300.0)
    assert result.jobs["run_s"].tolist() == [1000.0, 0.0]
    assert result.jobs["queueing_s"].tolist() == [0.0, 600.0]
    assert result.jobs["finish_s"].tolist() == [1000.0, 600.0]
