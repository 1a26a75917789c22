"""`blox check` points out attributes of a policy that nothing reads because a letter of theirs is wrong."""

import pytest

from blox import registry
from blox.checks import check
from blox.checks.find import KINDS
from blox.checks.misspelt import misspelt
from blox.optional import OPTIONAL

SCHEDULE = """
    @dataclass(frozen=True)
    class Mine:
        '''First come, first served.'''

        def schedule(self, job_state, cluster_state):
            return Schedule.ordered(job_state)
"""


def findings(spec):
    return {finding.rule: finding for finding in check(spec).findings}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("stable_untill = 1", "stable_until"),  # a letter too many
        ("figure = 1", "figures"),  # one too few
        ("job_colums = 1", "job_columns"),
        ("resises = True", "resizes"),  # another one
        ("rigid_oto = True", "rigid_too"),  # two swapped
        ("def wake_every_s(self): ...", "wakes_every_s"),
    ],
)
def test_one_letter_wrong_is_a_fault_with_a_suggestion(policy_file, written, meant):
    spec = policy_file(SCHEDULE + f"\n        {written}\n")
    every = findings(spec)
    found = every["optional"]
    name = written.removeprefix("def ").partition("(")[0].partition(" ")[0]
    assert not found.ok
    assert f"nothing reads {name!r}: did you mean {meant!r}?" in found.what
    assert found.where == "mine.py:5"
    assert every["finishes"].ok, "the other rules are tried all the same"


@pytest.mark.parametrize(
    "written",
    [
        "figure: int = 3",  # a parameter may be called so
        "_figure = 3",
        "diagrams = 3",
        "figure = 3\n\n        def figures(self, job_state):\n            return {}",
        "ignores_node = 3",  # read of placements, not of schedulers
    ],
)
def test_other_names_are_nobody_s_business(policy_file, written):
    assert findings(policy_file(SCHEDULE + f"\n        {written}\n"))["optional"].ok


def test_a_value_of_another_form_is_a_fault(policy_file):
    found = findings(policy_file(SCHEDULE + "\n        resizes = 'yes'\n"))
    assert not found["optional"].ok and "resizes is 'yes'" in found["optional"].what
    assert found["runs"].ok is None, "not tried"


def test_what_is_said_at_the_end_of_a_run_is_checked_too(policy_file):
    says = "\n        def figures(self, job_state):\n            return [1]\n"
    found = findings(policy_file(SCHEDULE + says))["optional"]
    assert not found.ok and "figures() returns list" in found.what


@pytest.mark.parametrize(
    ("verb", "answer", "name"),
    [
        ("figures", "{'avg_jct_s': 1.0}", "avg_jct_s"),
        ("job_columns", "{'jct_s': np.zeros(job_state.submitted)}", "jct_s"),
        ("job_columns", "{'lost_gpu_seconds': np.zeros(job_state.submitted)}", "lost_gpu_seconds"),
    ],
)
def test_a_name_that_replaces_what_a_run_measures_is_a_fault(policy_file, verb, answer, name):
    says = f"\n        def {verb}(self, job_state):\n            return {answer}\n"
    found = findings(policy_file(SCHEDULE + says))["optional"]
    assert found.ok is False and f"{verb}() returns {name!r}" in found.what
    assert "mine.py:" in found.where and found.fix == f"rename it: my_{name}"


def test_a_base_class_of_one_s_own_counts_and_one_of_ours_does_not(policy_file):
    spec = policy_file(
        """
        from blox.schedulers.fifo import Fifo

        class Base:
            stable_utnil = 1

        @dataclass(frozen=True)
        class Mine(Base, Fifo):
            '''First come, first served.'''

            stable_until = None
        """
    )
    cls = registry.load_class("./mine.py", "Mine")
    assert misspelt(cls, KINDS["scheduling"]) == {"stable_utnil": "stable_until"}
    assert not findings(spec)["optional"].ok


def test_no_two_declared_names_are_mistaken_for_each_other():
    for kind in KINDS.values():
        for name in registry.names(kind.name):
            assert not misspelt(registry.find(kind.name, name), kind)
    assert len(OPTIONAL) == len({name.replace("_", "") for name in OPTIONAL})
