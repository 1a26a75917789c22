"""`promote` around any policy, also one from a file: its spec, its faults and what it also says."""

import numpy as np
import pytest

from blox import BloxError, Experiment
from blox.checks import check
from blox.protocols import declared
from blox.schedulers.promote import Promote

MINE = """from dataclasses import dataclass
from blox import Schedule


@dataclass(frozen=True)
class Mine:
    '''Last come, first served.'''

    sign: int = -1
    fails: bool = False

    app_column = "user"
    wakes_every_s = 7

    def schedule(self, job_state, cluster_state):
        if self.fails:
            return 1 / 0
        return Schedule.ordered(job_state, by=self.sign * job_state.submit_s)

    def figures(self, job_state):
        return {"sign": self.sign}
"""
JOBS = "constant:every_s=100,duration_s=3000"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """`mine.py` is where the test is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)


def run(scheduler):
    return Experiment(scheduler=scheduler, workload=JOBS, cluster="1x1", jobs=12).run()


def test_a_policy_from_a_file_can_be_wrapped(mine):
    alone = run("./mine.py:Mine")
    never = run("promote:policy=./mine.py:Mine")
    soon = run("promote:policy=./mine.py:Mine,after_s=900")
    assert np.array_equal(alone.jobs["finish_s"], never.jobs["finish_s"])
    assert not np.array_equal(alone.jobs["finish_s"], soon.jobs["finish_s"])
    # who came first waits for all that came later, until promoted
    waited = [np.max(each.jobs["first_start_s"] - each.jobs["submit_s"]) for each in (alone, soon)]
    assert waited[1] <= waited[0]


def test_its_options_follow_the_class_and_its_own_follow_a_comma(mine):
    first_come = run("promote:policy=./mine.py:Mine:sign=1;fails=false,after_s=900000")
    assert np.array_equal(first_come.jobs["finish_s"], run("fifo:preempt=true").jobs["finish_s"])
    assert first_come.summary["sign"] == 1


def test_what_it_does_not_say_itself_the_wrapped_policy_says_for_it(mine):
    wrapper = Promote("./mine.py:Mine")
    assert declared(wrapper, "app_column") == "user"
    assert declared(wrapper, "wakes_every_s") == 7
    assert declared(wrapper, "figures")(None) == {"sign": -1}
    assert declared(Promote("pollux"), "resizes") and not declared(Promote("las"), "resizes")
    assert declared(Promote("promote:policy=pollux"), "default_performance") == "goodput"


def test_a_wrapper_is_asked_every_round_unless_it_says_otherwise():
    class Silent:
        wraps = Promote("las")

    assert declared(Silent(), "stable_until") is None
    assert declared(Promote("las"), "stable_until") is not None


def test_faults_of_the_wrapped_policy_are_told_in_words_with_its_line(mine):
    with pytest.raises(BloxError, match="raises ZeroDivisionError") as fault:
        run("promote:policy=./mine.py:Mine:fails=true")
    assert fault.value.where.startswith("mine.py:17, ")
    with pytest.raises(BloxError, match="no class is called 'Mime'"):
        run("promote:policy=./mine.py:Mime")
    with pytest.raises(BloxError, match="a file needs a class behind it"):
        run("promote:policy=./mine.py")


def test_results_run_again_from_their_file(mine, tmp_path):
    first = run("promote:policy=./mine.py:Mine,after_s=900")
    out = first.save(tmp_path / "out")
    again = Experiment.from_toml(out / "experiment.toml")
    assert again.scheduler == "promote:policy=./mine.py:Mine,after_s=900"
    assert np.array_equal(again.run().jobs["finish_s"], first.jobs["finish_s"])


def test_the_wrapper_conforms(mine):
    report = check("promote:policy=./mine.py:Mine,after_s=900")
    assert report.ok, report
