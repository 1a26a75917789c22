"""Parts that are no policies against their contracts: registered ones, and broken ones."""

import pytest

from blox import registry
from blox.checks import Report, check
from blox.checks.kinds import KINDS, SOURCES
from blox.errors import BloxError

HEAD = """
import numpy as np
from blox.workloads.table import JobTable
"""
BROKEN = {
    "jobs": (
        "workload",
        """
        @dataclass(frozen=True)
        class Mine:
            \"\"\"Jobs backwards.\"\"\"

            def batches(self, rng):
                for at in (100.0, 50.0):
                    columns = {"job_id": np.array([str(at)], dtype=object), "submit_s": np.array([at]),
                               "gpus": np.array([1]), "duration_s": np.array([10.0])}
                    yield JobTable(columns)
        """,
    ),
    "repeatable": (
        "workload",
        """
        @dataclass(frozen=True)
        class Mine:
            \"\"\"Jobs by chance.\"\"\"

            def batches(self, rng):
                columns = {"job_id": np.array(["a"], dtype=object), "submit_s": np.array([0.0]),
                           "gpus": np.array([1]), "duration_s": np.array([1.0 + random.random()])}
                yield JobTable(columns)
        """,
    ),
    "rates": (
        "performance",
        """
        @dataclass(frozen=True)
        class Mine:
            \"\"\"No job runs.\"\"\"

            def rate(self, grants, cluster_state, job_state):
                return np.zeros(len(grants.jobs))
        """,
    ),
    "runs": (
        "performance",
        """
        @dataclass(frozen=True)
        class Mine:
            \"\"\"Cannot be asked.\"\"\"

            def rate(self, grants, cluster_state, job_state):
                raise ValueError("not today")
        """,
    ),
}


REPORTS = """
@dataclass(frozen=True)
class Mine:
    \"\"\"Reports of jobs.\"\"\"

    reports = ("loss",)

    def epochs_of(self, rows, job_state):
        return {epochs}

    def report(self, rows, epoch, job_state):
        return {report}
"""
BACKEND = """
from blox.backends.simulation import Simulation

class Backend(Simulation):
    {method}

@dataclass(frozen=True)
class Mine:
    \"\"\"A simulation with a fault.\"\"\"

    def open(self, setup):
        return Backend(setup)
"""
SLOW_DAY = """
from blox.backends.simulation import Simulation
from blox.state import progress

class Backend(Simulation):
    slow = False

    def collect(self, cluster_state, job_state):
        slow = job_state.now // 86400 % 7 == 6
        if slow != self.slow:
            self.slow, rows = slow, cluster_state.running
            begin = progress.rebase(job_state, rows)
            rate = job_state.columns.rate[rows] * (0.5 if slow else 2.0)
            progress.set_rate(job_state, rows, rate)
            self._note_ends(rows, rate, begin, job_state)

@dataclass(frozen=True)
class Mine:
    \"\"\"Half as fast one day of the week; `_next_own_event` does not name it.\"\"\"

    def open(self, setup):
        return Backend(setup)
"""
FAILURES = """
from blox.state.node_events import NodeEvent

@dataclass(frozen=True)
class Mine:
    \"\"\"Nodes fail.\"\"\"

    def node_events(self, cluster, seed):
        yield {event}
        yield NodeEvent(100.0, 1, "up")
"""
KNOWN = """
    def known_events(self, cluster, seed, now):
        yield from {events}
"""
TEN, ONES = "np.full(len(rows), 10)", '{"loss": np.ones(len(rows))}'
BROKEN |= {
    "epochs": ("reports", REPORTS.format(epochs="np.full(len(rows), 1.5)", report=ONES)),
    "names": ("reports", REPORTS.format(epochs=TEN, report='{"accuracy": np.ones(len(rows))}')),
    "repeatable, reports": (
        "reports", REPORTS.format(epochs=TEN, report='{"loss": np.random.random(len(rows))}'),
    ),
    "runs, reports": ("reports", REPORTS.format(epochs=TEN, report="{}['none']")),
    "time": ("backend", BACKEND.format(method="def wait_until(self, time_s): return time_s - 1")),
    "finishes": ("backend", BACKEND.format(method="def completed(self, *a): return np.empty(0, int), 0.0")),
    "repeatable, backend": (
        "backend",
        BACKEND.format(method="def _delay(self, *a): return super()._delay(*a) + np.random.random()"),
    ),
    "skips": ("backend", SLOW_DAY),
    "skips, ends": ("backend", BACKEND.format(method="def _next_own_event(self, *a): return np.inf")),
    "form": ("failures", FAILURES.format(event='(50.0, 1, "down")')),
    "order": ("failures", FAILURES.format(event='NodeEvent(200.0, 1, "down")')),
    "order, words": ("failures", FAILURES.format(event='NodeEvent("2h", 1, "down")')),
    "nodes": ("failures", FAILURES.format(event='NodeEvent(50.0, len(cluster.nodes), "down")')),
    "nodes, names": ("failures", FAILURES.format(event='NodeEvent(50.0, "node-1", "down")')),
    "states": ("failures", FAILURES.format(event='NodeEvent(50.0, 1, "broken")')),
    "repeatable, failures": (
        "failures", FAILURES.format(event='NodeEvent(random.random(), 1, "down")'),
    ),
    "known": ("failures", FAILURES.format(event='NodeEvent(50.0, 1, "down")') + KNOWN.format(events="()")),
    "known, order": (
        "failures",
        FAILURES.format(event='NodeEvent(50.0, 1, "down")')
        + KNOWN.format(events='(NodeEvent(50.0, 1, "down"), NodeEvent(9.0, 1, "up"))'),
    ),
    "runs, failures": ("failures", FAILURES.format(event="{}['none']")),
    "verb": ("failures", FAILURES.format(event="1").replace("cluster, seed", "cluster")),
    "optional": ("failures", FAILURES.format(event='NodeEvent(1.0, 1, "down")') + "    job_mtbfs = 9.0"),
    "runs, backend": ("backend", BACKEND.format(method="next_event = None")),
}  # fmt: skip


GENERATORS = [
    name for name, cls in registry.classes("workload").items() if "jobs" in registry.parameters(cls)
]


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_conforms(name):
    report = check(f"{name}:jobs=50", "workload")
    assert report.ok, report


@pytest.mark.parametrize("name", ["duration", "spread", "throughputs", "table"])
def test_performance_models_of_rigid_jobs_conform(name):
    report = check(name, "performance")
    assert report.ok, report


@pytest.mark.parametrize("rule", BROKEN)
def test_what_is_broken_is_told(rule, policy_file):
    kind, text = BROKEN[rule]
    spec = policy_file(text)
    with open("mine.py") as file:
        source = file.read()
    with open("mine.py", "w") as file:
        file.write(HEAD + source)
    report = check(spec)
    assert report.kind == kind, "the file tells"
    assert [fault.rule for fault in report.faults] == [rule.partition(",")[0]], report
    assert all(fault.what and fault.fix for fault in report.faults)


@pytest.mark.parametrize(("kind", "name"), [("reports", "loss"), ("backend", "simulation")])
def test_sources_of_reports_and_backends_conform(kind, name):
    report = check(name, kind)
    assert report.ok and all(finding.ok for finding in report.findings), report


def test_a_backend_in_real_time_is_not_tried():
    report = check("replay")
    assert report.ok and report.finding("finishes").ok is None and "real time" in str(report)


@pytest.mark.parametrize(
    ("name", "title"),
    [("philly:jobs=9", "workload philly:jobs=9:"), ("duration", "performance model duration:")],
)
def test_parts_are_called_what_they_are(name, title):
    assert str(check(name)).startswith(title)
    assert str(Report("las", "scheduling", ())) == "scheduling policy las: conforms"


WORKLOAD = """
    @dataclass(frozen=True)
    class Mine:
        \"\"\"One job.\"\"\"

        {more}

        def {verb}:
            from blox.workloads.table import JobTable

            yield JobTable.build(
                {{"job_id": ["a"], "submit_s": [0.0], "gpus": [1], "duration_s": [9.0]}}, source="mine"
            )
"""
PERFORMANCE = """
    @dataclass(frozen=True)
    class Mine:
        \"\"\"As fast as any.\"\"\"

        {more}

        def {verb}:
            return 1.0
"""
TERMINATION = """
    @dataclass(frozen=True)
    class Mine:
        \"\"\"Ends none.\"\"\"

        {more}

        def {verb}:
            return job_state.active[:0]
"""
VERB = {
    WORKLOAD: "batches(self, rng)",
    PERFORMANCE: "rate(self, grants, cluster_state, job_state)",
    TERMINATION: "terminate(self, job_state, cluster_state)",
}


@pytest.mark.parametrize(
    ("part", "more", "words", "fix"),
    [
        (
            WORKLOAD,
            "largest_gpu = 4",
            "nothing reads 'largest_gpu': did you mean 'largest_gpus'?",
            "largest_gpus",
        ),
        (WORKLOAD, "endles = True", "did you mean 'endless'?", "endless"),
        (WORKLOAD, "largest_gpus = 'four'", "largest_gpus is 'four'", "a whole number above 0"),
        (PERFORMANCE, "by_node = False", "did you mean 'by_nodes'?", "by_nodes"),
        (PERFORMANCE, "def check_job(self, jobs): ...", "did you mean 'check_jobs'?", "check_jobs"),
        (PERFORMANCE, "def check_jobs(self): ...", "check_jobs() cannot be called", "check_jobs(self, jobs)"),
        (PERFORMANCE, "by_nodes = 3", "by_nodes is 3", "true or false"),
        (TERMINATION, "reasons = 'no progress'", "did you mean 'reason'?", "reason"),
        (TERMINATION, "reads_metric = ('loss',)", "did you mean 'reads_metrics'?", "reads_metrics"),
    ],
)
def test_an_attribute_that_is_misspelt_or_of_another_form_is_told_with_the_right_one(
    part, more, words, fix, policy_file
):
    fault = check(policy_file(part.format(more=more, verb=VERB[part]))).finding("optional")
    assert fault.ok is False and words in fault.what and fix in fault.fix
    good = check(policy_file(part.format(more="", verb=VERB[part])))
    assert good.ok and good.finding("optional").ok, good


@pytest.mark.parametrize(
    ("part", "verb", "words"),
    [
        (WORKLOAD, "batches(self)", "batches() cannot be called: too many positional arguments"),
        (WORKLOAD, "batchs(self, rng)", "nothing calls batchs(), did you mean batches()?"),
        (PERFORMANCE, "rate(self, grants)", "rate() cannot be called"),
        (PERFORMANCE, "rates(self, grants, cluster_state, job_state)", "did you mean rate()?"),
        (TERMINATION, "terminate(self, job_state)", "terminate() cannot be called"),
        (TERMINATION, "terminates(self, job_state, cluster_state)", "did you mean terminate()?"),
    ],
)
def test_a_verb_that_is_misspelt_or_takes_other_arguments_is_told_with_the_right_one(
    part, verb, words, policy_file
):
    fault = check(policy_file(part.format(more="", verb=verb))).finding("verb")
    assert fault.ok is False and words in fault.what and f"def {VERB[part]}" in fault.fix
    assert fault.where.startswith("mine.py:")


def test_both_methods_of_a_source_of_reports_are_looked_at(policy_file):
    text = REPORTS.format(epochs=TEN, report=ONES)
    fault = check(policy_file(text.replace("epochs_of(self, rows, job_state)", "epochs(self, rows)")))
    assert "has no method epochs_of()" in fault.finding("verb").what
    fault = check(policy_file(text.replace("epochs_of(self, rows, job_state)", "epochs_of(self, rows)")))
    assert "def epochs_of(self, rows, job_state): return" in fault.finding("verb").fix


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("workload", WORKLOAD.format(more="", verb="batches(self)")),
        ("performance", PERFORMANCE.format(more="", verb="rate(self, grants)")),
        ("backend", BACKEND.format(method="pass").replace("open(self, setup)", "open(self)")),
        ("reports", REPORTS.format(epochs="10", report="{}").replace("(self, rows, job_state)", "(self)")),
    ],
)
def test_a_run_with_such_a_part_is_answered_in_words(option, text, policy_file, command):
    spec = policy_file(text)
    answer = command("run", "--jobs", 3, f"--{option}", spec)
    assert answer.code == 2 and "cannot be called" in answer.err and "mine.py:" in answer.err
    assert "blox check" in answer.err


@pytest.mark.parametrize(
    ("method", "words", "fix"),
    [
        (
            "def complete(self, *a): ...",
            "nothing calls 'complete': did you mean 'completed'?",
            "write completed",
        ),
        ("def suspend(self, rows): ...", "suspend() cannot be called", "def suspend(self, rows, job_state)"),
    ],
)
def test_methods_of_a_backend_are_looked_at(method, words, fix, policy_file):
    fault = check(policy_file(BACKEND.format(method=method))).finding("methods")
    assert fault.ok is False and words in fault.what and fix in fault.fix


def test_options_of_the_part_that_opens_a_backend_are_looked_at(policy_file):
    text = BACKEND.format(method="pass").replace("def open(self", "speed_up = 10.0\n\n    def open(self")
    assert "did you mean 'speedup'?" in check(policy_file(text)).finding("optional").what
    wrong = BACKEND.format(method="pass").replace("def open(self, setup)", "def open(self)")
    assert "open() cannot be called" in check(policy_file(wrong)).finding("verb").what


def test_a_change_that_a_backend_does_not_name_is_told_with_its_class_and_the_job(policy_file):
    fault = check(policy_file(SLOW_DAY)).finding("skips")
    assert fault.ok is False and fault.where == "mine.py:8"
    assert fault.what.startswith("finish_s of job 'job-0' is 820800 with every round executed and 777600")
    assert "_next_own_event()" in fault.fix


@pytest.mark.parametrize("spec", ["mtbf=30d,repair=4h", "random:mtbf=9d,shape=0.7", "drain:node=3+4,at=36h"])
def test_sources_of_failures_conform(spec):
    report = check(spec, "failures")
    assert report.ok and all(finding.ok for finding in report.findings), report
    assert str(report).startswith(f"source of failures {spec}: ")


def test_a_kind_that_cannot_be_checked_is_answered_with_all_that_can(command):
    answer = command("check", "./mine.py:Mine", "--kind", "failure")
    assert answer.code == 2 and "did you mean 'failures'?" in answer.err
    for kind in (*KINDS, *SOURCES):
        assert kind in answer.err and kind in command("check", "--help").out


def test_a_name_that_is_none_is_answered_with_those_of_all_parts(command):
    answer = command("check", "drains")
    assert answer.code == 2 and "did you mean 'drain'?" in answer.err


def test_an_object_of_another_kind_than_a_policy_is_to_be_given_as_a_text():
    with pytest.raises(BloxError, match="other parts are checked by their specs"):
        check(object(), "failures")
