"""What a part may also say is declared once, in `blox.optional`, and read in one way.

The source itself is read here: a `getattr` for an attribute that is declared nowhere fails, as does one that
goes past `declared()`. Lookups on objects that are no parts stand in two short lists, with their reasons.
"""

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import blox
from blox import Experiment, registry
from blox.checks import guard
from blox.checks.find import find
from blox.errors import BloxError
from blox.optional import POLICIES, of_kind
from blox.protocols import OPTIONAL, declared
from blox.registry import PACKAGES
from blox.schedulers.fifo import Fifo

SOURCE = Path(blox.__file__).parent
DOC = (SOURCE.parents[1] / "docs" / "writing-a-policy.md").read_text()
KINDS = {*PACKAGES}

# (module, name) -> why this is looked up by name: none of these is an attribute of a part
BY_NAME = {
    ("cli/commands.py", "app"): "a module: the typer app of a command with subcommands",
    ("cli/commands.py", "ctx"): "an exception of the command-line library",
    ("cli/commands.py", "option_name"): "an exception of the command-line library",
    ("client/loader.py", "set_epoch"): "what a distributed sampler of PyTorch has",
    ("client/randomness.py", "generator"): "what a sampler of PyTorch that shuffles has",
    ("experiment/parallel.py", "sched_getaffinity"): "a function that `os` has on some systems",
    ("registry/specs.py", "blox_kind"): "the mark that the registry itself puts on classes",
    ("report/certainty.py", "runs"): "a comparison's row: a run, or the runs of several seeds",
    ("reproduce/catalogue.py", "PAGE"): "a module: the page that it defines",
    ("results/samples.py", "runs"): "a comparison's row: a run, or the runs of several seeds",
    ("workloads/spec.py", "batches"): "the verb of a workload: one without it is refused",
}
# module -> why a name that is not known before is looked up, with the possibility that it is absent
BY_VARIABLE = {
    "backends/setup.py": "the verbs of a backend: one without them is refused",
    "checks/broken.py": "the verb of a policy, to find its line",
    "checks/find.py": "the verbs of policies, to tell their kind",
    "checks/form.py": "the verb of a part: one without it is refused",
    "checks/probe.py": "the columns of a Schedule or an Allocation, to compare them",
    "checks/seal.py": "the attributes of the states, to compare them",
    "experiment/parts.py": "the verb of a policy: one without it is refused",
    "experiment/traits.py": "the function behind a method, a property or a class method",
    "registry/user_files.py": "a module: the class that a spec names",
    "schedulers/gavel/solver/one_thread.py": "a library of C functions",
    "state/jobs.py": "the verbs of policies, to name their memory",
}


def calls(function: str) -> Iterator[tuple[str, ast.Call]]:
    """(module, call) of every call of a built-in, or of `declared`, in the source."""
    return ((module, call) for module, name, call in calls_by_name() if name == function)


@cache
def calls_by_name() -> list[tuple[str, str, ast.Call]]:
    """(module, function, call) of every call of a function by its bare name in the source."""
    return [
        (file.relative_to(SOURCE).as_posix(), node.func.id, node)
        for file in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]


def literal(call: ast.Call) -> str | None:
    name = call.args[1]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def lookups() -> Iterator[tuple[str, str | None, str]]:
    """(module, name, place) of every attribute that is named or may be absent; None: any name."""
    for function in ("getattr", "hasattr"):
        for module, call in calls(function):
            name = literal(call)
            may_be_absent = function == "hasattr" or len(call.args) == 3
            if module == "optional.py" or (name is None and not may_be_absent):
                continue
            if name is None or not name.startswith("__"):  # those are Python's own
                yield module, name, f"src/blox/{module}:{call.lineno}"


def test_no_attribute_of_a_part_is_looked_up_that_is_not_declared():
    for module, name, place in lookups():
        if name is None:
            assert module in BY_VARIABLE, f"{place}: read parts with declared(part, name)"
            continue
        assert name not in OPTIONAL, f"{place}: write declared(part, {name!r})"
        assert (module, name) in BY_NAME, f"{place}: {name!r} is declared nowhere: see blox.optional.OPTIONAL"


def test_the_lists_of_exceptions_name_nothing_that_is_gone():
    found = {(module, name) for module, name, _ in lookups()}
    assert {pair for pair in found if pair[1] is not None} == set(BY_NAME)
    assert {module for module, name in found if name is None} == set(BY_VARIABLE)


def test_every_declared_attribute_is_read_and_nothing_else_is():
    read = {literal(call) for _, call in calls("declared")} - {None}
    assert read == set(OPTIONAL)


def test_declarations_are_whole():
    for attribute in OPTIONAL.values():
        assert attribute.kinds and set(attribute.kinds) <= KINDS, attribute.name
        assert len(attribute.meaning) > 20 and not attribute.meaning.endswith("."), attribute.name
        default = attribute.default
        assert default is None or attribute.form.fits(default), attribute.name


@pytest.mark.parametrize("kind", POLICIES)
def test_every_built_in_policy_says_what_it_says_in_the_declared_form(kind):
    for name in registry.names(kind):
        policy = find(name, kind).policy
        assert policy is not None, name
        for attribute in of_kind(kind):
            declared(policy, attribute)


def row_of(attribute):
    default = {None: "–", "": "–"}.get(attribute.default, f"`{attribute.default}`")
    if isinstance(attribute.default, float) and math.isnan(attribute.default):
        default = "–"
    form = attribute.form.words.removeprefix("a ")
    form = f"`{attribute.form.written(attribute.name)}`" if attribute.form.arguments is not None else form
    return f"| `{attribute.name}` | {', '.join(attribute.kinds)} | {form} | {default} | {attribute.meaning} |"


def test_the_documentation_lists_what_is_declared():
    section = DOC.partition("## What a part may also say")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `\w+` \|.*$", section, re.MULTILINE)
    assert listed == [row_of(attribute) for attribute in OPTIONAL.values()]


@dataclass(frozen=True)
class Says(Fifo):
    """A scheduler that also says something."""

    @property
    def default_performance(self):
        return self.missing

    resizes = 1
    rigid_too = None
    wakes_every_s = 60


def test_a_part_that_says_nothing_is_read_as_the_default():
    assert declared(object(), "resizes") is False
    assert declared(object(), "figures") is None
    assert declared(object(), "app_column") == "group"
    assert math.isnan(declared(object(), "load"))


def test_what_a_part_says_is_read_and_held_to_its_form():
    assert declared(Says(), "wakes_every_s") == 60
    assert declared(Says(), "rigid_too") is False, "None says nothing"
    with pytest.raises(BloxError, match="resizes is 1") as fault:
        declared(Says(), "resizes")
    assert fault.value.fix == "resizes must be true or false, or be left out"
    with pytest.raises(
        BloxError, match="default_performance fails: 'Says' object has no attribute 'missing'"
    ):
        declared(Says(), "default_performance")


def test_a_guard_says_what_its_policy_says():
    class Silent:
        def schedule(self, job_state, cluster_state):
            raise NotImplementedError

    class Talking(Silent):
        resizes = True
        app_column = "tenant"

        def figures(self, job_state):
            return {"answer": 42}

    for attribute in OPTIONAL.values():
        if "scheduling" in attribute.kinds:
            assert declared(guard("scheduling", Silent()), attribute.name) == attribute.default
    watched = guard("scheduling", Talking())
    assert declared(watched, "resizes") is True
    assert declared(watched, "app_column") == "tenant"
    assert declared(watched, "figures")(None) == {"answer": 42}


FILE = """from dataclasses import dataclass
from blox import Schedule

@dataclass(frozen=True)
class Mine:
    '''First come, first served.'''

    def schedule(self, job_state, cluster_state):
        return Schedule.ordered(job_state)

"""


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ("    resizes = 'yes'\n", "resizes is 'yes'"),
        ("    wakes_every_s = 0\n", "wakes_every_s is 0"),
        ("    app_column = 'colour'\n", "app_column is 'colour'"),
        ("    figures = 4\n", "figures is 4"),
        ("    def figures(self, job_state):\n        return 4\n", r"figures\(\) returns int, not a dict"),
        ("    def figures(self, job_state):\n        return {'a': 'b'}\n", r"figures\(\) returns 'b' as 'a'"),
        ("    def figures(self, job_state):\n        1 / 0\n", r"figures\(\) raises ZeroDivisionError"),
        ("    def figures(self):\n        return {}\n", r"figures\(\) cannot be called"),
        (
            "    def job_columns(self, job_state):\n        return {'a': job_state.columns.gpus}\n",
            r"job_columns\(\) returns \(\d+,\) as 'a', and 5 jobs",
        ),
        (
            "    def job_columns(self, job_state):\n"
            "        return {'promotions': job_state.columns.submit_s[: job_state.submitted] / 7}\n",
            r"job_columns\(\) returns float64 as 'promotions', a column of int64",
        ),
    ],
)
def test_what_a_user_s_policy_says_wrongly_is_told_in_words(tmp_path, says, words):
    (tmp_path / "mine.py").write_text(FILE + says)
    with pytest.raises(BloxError, match=words) as fault:
        Experiment(scheduler=f"{tmp_path}/mine.py:Mine", workload="constant", jobs=5).run()
    assert "mine.py" in fault.value.where and fault.value.fix


def test_what_a_user_s_policy_says_is_in_the_results(tmp_path):
    says = """    def figures(self, job_state):
        return {"longest_wait_s": 7.5}

    def job_columns(self, job_state):
        return {"double": 2 * job_state.columns.gpus[: job_state.submitted]}
"""
    (tmp_path / "mine.py").write_text(FILE + says)
    result = Experiment(scheduler=f"{tmp_path}/mine.py:Mine", workload="constant", jobs=5).run()
    assert result.summary["longest_wait_s"] == 7.5
    assert result.jobs["double"].tolist() == (2 * result.jobs["gpus"]).tolist()


MEASURED = [("figures", name) for name in ("avg_jct_s", "evictions", "energy_kwh")]
MEASURED += [("job_columns", name) for name in ("jct_s", "evictions", "cost_dollars", "sla")]


@pytest.mark.parametrize(
    ("verb", "name", "setting", "spec"),
    [
        *((*each, "scheduler", "{}") for each in MEASURED),
        *((*each, "scheduler", "promote:policy={}") for each in MEASURED),
        *((*each, "auto", "scheduler=fifo,{}") for each in MEASURED if each[0] == "figures"),
    ],
)
def test_what_a_user_s_policy_says_replaces_nothing_that_is_measured(tmp_path, verb, name, setting, spec):
    """`figures` and `job_columns` may not use the names of the toolkit or the workload's own columns."""
    value = "1.0" if verb == "figures" else "np.zeros(job_state.submitted)"
    says = f"    def {verb}(self, job_state):\n        return {{'{name}': {value}}}\n"
    (tmp_path / "mine.py").write_text("import numpy as np\n" + FILE + says)
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s,sla\na,0,1,600,1\nb,0,1,600,2\n")
    experiment = Experiment(
        workload=f"{tmp_path}/jobs.csv?extra=keep",
        cluster="1x4",
        power="300/60",
        overheads="checkpoint=600",
        **{setting: spec.format(f"{tmp_path}/mine.py:Mine")},
    )
    with pytest.raises(BloxError, match=rf"{verb}\(\) returns '{name}'") as fault:
        experiment.run()
    assert ("promote" if "promote" in spec else "mine.py:Mine") in fault.value.where
    assert fault.value.fix == f"rename it: my_{name}"


def test_a_policy_may_count_what_built_in_policies_count(tmp_path):
    says = """    def job_columns(self, job_state):
        return {"promotions": 0 * job_state.columns.gpus[: job_state.submitted]}
"""
    (tmp_path / "mine.py").write_text(FILE + says)
    result = Experiment(scheduler=f"{tmp_path}/mine.py:Mine", workload="constant", jobs=5).run()
    assert result.jobs["promotions"].tolist() == [0] * 5
