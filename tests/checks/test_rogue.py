"""Policies that loop, leave, interrupt or reach into the state are told with their place."""

import faulthandler
import signal
import subprocess
import sys

import pytest

from blox import Experiment
from blox.checks import check
from blox.errors import BloxError
from support.traces import trace
from support.waiting import PATIENCE_S, eventually

HEAD = "import os, sys\nclass Odd(BaseException): pass\n"
ROGUE = HEAD + (
    "@dataclass(frozen=True)\n"
    "class Mine:\n"
    "    '''Does harm.'''\n"
    "    def schedule(self, job_state, cluster_state):\n"
    "        {harm}\n"
    "        return Schedule.ordered(job_state)\n"
)
JOBS = "a,0,1,1000 b,0,1,1000"
LIMIT_S = 600.0  # longer than any call takes, however busy the machine; code that loops lets it pass at once
NO_ANSWER = "gives no answer within 600 s"
PASSES = "__import__('signal').setitimer(__import__('signal').ITIMER_REAL, 0.01, 0.01)"
LOOP = f"for _ in ({PASSES}, iter(int, 1))[1]: pass"

# What goes round the seal: the array below a view, opened, written to and closed again within one call.
BELOW = "a = job_state.columns.{name}.base; a.setflags(write=True); a.fill({value}); a.setflags(write=False)"


@pytest.fixture
def alarm():
    """Ends the process of a test that hangs, whatever the code in it catches."""
    faulthandler.dump_traceback_later(PATIENCE_S, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


HARM = {
    "raises KeyboardInterrupt": ("raise KeyboardInterrupt", "schedule() raises KeyboardInterrupt: "),
    "raises what no program catches": ("raise Odd('x')", "schedule() raises Odd: x"),
    "closes": ("raise GeneratorExit", "schedule() raises GeneratorExit: "),
    "leaves": ("sys.exit(0)", "schedule() raises SystemExit: 0"),
    "ends the process": ("os._exit(0)", "schedule() calls os._exit(0), which would end the run"),
    "loops": (LOOP, f"schedule() {NO_ANSWER}"),
    "sleeps": (f"{PASSES}; __import__('time').sleep(1000)", f"schedule() {NO_ANSWER}"),
    "opens the state": (
        "job_state.columns.submit_s.setflags(write=True)",
        "schedule() makes the arrays of the state writeable",
    ),
}


@pytest.mark.parametrize("name", HARM)
def test_harm_is_told_with_its_line(policy_file, tmp_path, name):
    harm, what = HARM[name]
    experiment = Experiment(
        workload=trace(tmp_path / "jobs.csv", JOBS),
        scheduler=policy_file(ROGUE.format(harm=harm)),
        policy_timeout_s=LIMIT_S,
    )
    with pytest.raises(BloxError) as stop:
        experiment.run()
    assert stop.value.what == what
    assert stop.value.where.startswith("mine.py:1") and "at 0 s" in stop.value.where
    assert stop.value.fix


@pytest.mark.parametrize("name", ["raises what no program catches", "ends the process", "loops"])
def test_harm_does_not_conform(policy_file, name):
    harm, what = HARM[name]
    report = check(policy_file(ROGUE.format(harm=harm)), timeout_s=LIMIT_S)
    fault = report.finding("time" if name == "loops" else "runs")
    assert (fault.ok, fault.what) == (False, what)


def test_a_file_that_ends_the_process_when_it_is_imported_is_told(policy_file):
    with pytest.raises(BloxError, match=r"the file cannot be imported: ProcessEnd: os._exit\(0\)"):
        Experiment(scheduler=policy_file("import os\nos._exit(0)\n")).run()


@pytest.mark.parametrize("where", ["when it is imported", "when it decides"])
def test_a_policy_that_goes_elsewhere_takes_nothing_along(policy_file, tmp_path, command, where):
    (tmp_path / "elsewhere").mkdir()
    text = ROGUE.format(harm="os.chdir('elsewhere')" if where == "when it decides" else "pass")
    if where == "when it is imported":
        text = text.replace("class Odd", "os.chdir('elsewhere')\nclass Odd")
    spec, workload = policy_file(text), trace(tmp_path / "jobs.csv", JOBS)
    answer = command("run", "--scheduler", spec, "--workload", workload, "--out", "out")
    assert answer.code == 0, answer.err
    assert (tmp_path / "out" / "jobs.csv").is_file()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_impossible_times_are_not_saved(policy_file, tmp_path, command):
    """Arrays that were written to and closed again are noticed by what comes of them."""
    harm = BELOW.format(name="admit_s", value="1e12")
    spec, workload = policy_file(ROGUE.format(harm=harm)), trace(tmp_path / "jobs.csv", JOBS)
    answer = command("run", "--scheduler", spec, "--workload", workload, "--out", "out")
    assert answer.code == 2
    assert (
        "the results are impossible: of job 'a', first_start_s is 0, before its admit_s, 1e+12" in answer.err
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_a_time_limit_is_above_nothing(command, seconds):
    for words in (("check", "las"), ("run", "--jobs", "5")):
        answer = command(*words, f"--policy-timeout={seconds}")
        assert answer.code == 2
        assert "give seconds above 0; inf: no limit" in answer.err


def test_the_time_limit_is_no_part_of_the_settings_that_are_kept(policy_file, tmp_path):
    workload = trace(tmp_path / "jobs.csv", JOBS)
    assert "policy_timeout_s" not in Experiment(workload=workload, policy_timeout_s=5).run().experiment


def test_sigterm_stops_a_check_that_loops(policy_file, tmp_path):
    harm = "print('here', flush=True); exec('while True: pass')"
    command = [sys.executable, "-m", "blox", "check", policy_file(ROGUE.format(harm=harm))]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 143
        assert b"Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()


def test_an_interrupt_that_a_speed_model_raises_is_not_the_user_s(policy_file, tmp_path, command):
    text = (
        "@dataclass(frozen=True)\nclass Mine:\n    '''Fast.'''\n"
        "    def rate(self, grants, cluster_state, job_state):\n        raise KeyboardInterrupt\n"
    )
    workload = trace(tmp_path / "jobs.csv", JOBS)
    answer = command("run", "--performance", policy_file(text), "--workload", workload)
    assert answer.code == 2
    assert "mine.py:9: KeyboardInterrupt" in answer.err


SCHEDULE = "    def schedule(self, job_state, cluster_state):\n        return Schedule.ordered(job_state)\n"
RATE = "    def rate(self, grants, cluster_state, job_state):\n"


def entry(method: str, body: str = LOOP) -> str:
    """A class `Mine` with a method that loops; its `schedule()` is as it should be."""
    return (
        "from dataclasses import field\n"
        f"def slow():\n    {LOOP}\n"
        "@dataclass(frozen=True)\nclass Mine:\n    '''Loops.'''\n"
        f"    {method}\n        {body}\n{SCHEDULE}"
    )


MIX = """from blox.workloads.synthetic import Synthetic
@dataclass(frozen=True)
class Mine(Synthetic):
    '''Loops.'''
    @property
    def whole_mix(self):
        {body}
"""
BACKEND = f"""from blox.backends.simulation import Simulation
class Slow(Simulation):
    def launch(self, *arguments):
        {LOOP}
@dataclass(frozen=True)
class Mine:
    '''Loops.'''
    def open(self, setup):
        return Slow(setup)
"""


# How a file loops before or beside its verb: (its text, the setting that names it, what is told).
LOOPS = {
    "import": (f"{LOOP}\n", "scheduler", "its import gives no answer"),
    "construction": (entry("def __post_init__(self):"), "scheduler", "its construction gives no answer"),
    "default": (
        entry("late: float = field(default_factory=slow)", "").replace("        \n", ""),
        "scheduler",
        "the default of late gives no answer",
    ),
    "check of the cluster": (
        entry("def check_cluster(self, cluster):"),
        "scheduler",
        "check_cluster() gives no answer",
    ),
    "tables": (entry("def choices(self, job_state):"), "scheduler", "choices() gives no answer"),
    "property": (
        entry("@property\n    def resizes(self):"),
        "scheduler",
        "resizes gives no answer",
    ),
    "speed": (entry(RATE.strip()), "performance", "rate() gives no answer"),
    "end": (
        entry("def terminate(self, job_state, cluster_state):"),
        "termination",
        "terminate() gives no answer",
    ),
    "jobs": (entry("def batches(self, rng):"), "workload", "batches() gives no answer"),
    "next jobs": (
        entry("def batches(self, rng):", f"yield from ()\n        {LOOP}"),
        "workload",
        "batches() gives no answer",
    ),
    "mix of a generator of ours": (MIX.format(body=LOOP), "workload", "batches() gives no answer"),
    "failures": (entry("def node_events(self, cluster, seed):"), "failures", "node_events() gives no answer"),
    "next failure": (
        entry("def node_events(self, cluster, seed):", f"yield NodeEvent(100.0, 0, 'down')\n        {LOOP}"),
        "failures",
        "node_events() gives no answer",
    ),
    "backend": (entry("def open(self, setup):"), "backend", "open() gives no answer"),
    "launch": (BACKEND, "backend", "launch() gives no answer"),
}


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("name", LOOPS)
def test_every_entry_into_a_file_is_limited_in_time(policy_file, tmp_path, name):
    text, setting, what = LOOPS[name]
    text = f"from blox.state.node_events import NodeEvent\n{text}" if setting == "failures" else text
    settings = {"workload": trace(tmp_path / "jobs.csv", JOBS), setting: policy_file(text)}
    with pytest.raises(BloxError) as stop:
        Experiment(**settings, policy_timeout_s=LIMIT_S).run()
    assert what in stop.value.what and stop.value.what.endswith("within 600 s")
    assert "mine.py:" in stop.value.where
    assert "--policy-timeout" in stop.value.fix


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize(("name", "rule"), [("construction", "defaults"), ("property", "optional")])
def test_entries_that_loop_do_not_conform(policy_file, name, rule):
    text, _, what = LOOPS[name]
    fault = check(policy_file(text), timeout_s=LIMIT_S).finding(rule)
    assert (fault.ok, fault.what) == (False, f"{what} within 600 s")


@pytest.mark.usefixtures("alarm")
def test_a_check_of_a_file_whose_import_loops_ends(policy_file):
    with pytest.raises(BloxError, match=f"its import {NO_ANSWER}"):
        check(policy_file(LOOPS["import"][0]), timeout_s=LIMIT_S)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize(("harm", "what"), [(LOOP, f"Mine() {NO_ANSWER}"), ("sys.exit(0)", "SystemExit: 0")])
def test_a_metric_that_loops_or_leaves_costs_no_run(policy_file, tmp_path, harm, what):
    spec = policy_file(f"import sys\ndef Mine(result):\n    {harm}\n")
    workload = trace(tmp_path / "jobs.csv", JOBS)
    result = Experiment(workload=workload, metrics=spec, policy_timeout_s=LIMIT_S).run()
    assert result.summary["Mine"] is None
    assert result.experiment["provenance"]["metric_faults"] == [f"Mine: mine.py:7: {what}"]


DEAF = """while True:
            try: print('here', flush=True); {passes}; __import__('time').sleep(1000)
            except BaseException: pass"""


@pytest.mark.parametrize("how", ["the time is up", "SIGTERM"])
def test_a_policy_that_catches_everything_is_left_with_words(policy_file, tmp_path, how):
    harm = DEAF.format(passes=PASSES if how == "the time is up" else "pass")
    spec, workload = policy_file(ROGUE.format(harm=harm)), trace(tmp_path / "jobs.csv", JOBS)
    command = [sys.executable, "-m", "blox", "run", "--scheduler", spec, "--workload", workload]
    process = subprocess.Popen(
        [*command, "--policy-timeout", "600"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )

    def ended():
        if how == "SIGTERM" and process.poll() is None:
            process.send_signal(signal.SIGTERM)  # two that come at once are one
        return process.poll() is not None

    try:
        assert process.stdout.readline() == b"here\n"
        assert eventually(ended) and process.returncode == 2
        told = (
            "it catches what would end it (SIGTERM)" if how == "SIGTERM" else "no answer within 600 s, and it"
        )
        assert f"error: mine.py:12: {told}" in process.stderr.read().decode()
    finally:
        process.kill()
        process.communicate()


PLANS = {
    "launches and suspends a job": (
        "Plan(launch=one, suspend=one.jobs)",
        "the Plan both suspends and launches job 'a'",
    ),
    "suspends a job that waits": (
        "Plan(launch=one, suspend=schedule.jobs[1:])",
        "the Plan suspends job 'b', which does not run",
    ),
    "suspends a row that is not there": (
        "Plan(launch=one, suspend=np.array([99]))",
        "the Plan suspends row 99, which no job has",
    ),
    "suspends no rows": (
        "Plan(launch=one, suspend=np.array([0.5]))",
        "the Plan's rows to suspend are an array of float64: [0.5], not an array of whole numbers",
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_that_contradicts_itself_is_refused(policy_file, tmp_path, name):
    plan, what = PLANS[name]
    placement = policy_file(
        "from blox import Plan\n@dataclass(frozen=True)\nclass Mine:\n    '''Contradicts itself.'''\n"
        "    def place(self, schedule, cluster_state, job_state):\n"
        f"        one = Allocation.from_dict({{0: (0,)}})\n        return {plan}\n"
    )
    with pytest.raises(BloxError) as stop:
        Experiment(workload=trace(tmp_path / "jobs.csv", JOBS), placement=placement).run()
    assert stop.value.what == what
    assert stop.value.where.startswith("mine.py:") and stop.value.fix


def test_an_array_cannot_be_opened_and_closed_again(policy_file, tmp_path):
    harm = (
        "[a.setflags(write=True) or a.fill(-7) or a.setflags(write=False) for a in [job_state.columns.gpus]]"
    )
    experiment = Experiment(
        workload=trace(tmp_path / "jobs.csv", JOBS), scheduler=policy_file(ROGUE.format(harm=harm))
    )
    with pytest.raises(BloxError) as stop:
        experiment.run()
    assert stop.value.what == "schedule() makes the arrays of the state writeable"
    assert stop.value.where.startswith("mine.py:1") and "at 0 s" in stop.value.where


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("gpus", "-7", "gpus of the job in row 0 is -7, and was submitted as 1"),  # ends in an error of blox
        ("gpus", "2", "gpus of the job in row 0 is 2, and was submitted as 1"),  # runs to its end
        ("submit_s", "float('nan')", "submit_s of the job in row 0 is nan, and was submitted as 0.0"),
        ("status", "17", "status of the job in row 0 is 17"),
        ("done0", "float('inf')", "done0 of the job in row 0 is inf"),
    ],
)
def test_a_damaged_state_is_told(policy_file, tmp_path, name, value, told):
    policy = policy_file(ROGUE.format(harm=BELOW.format(name=name, value=value)))
    experiment = Experiment(workload=trace(tmp_path / "jobs.csv", JOBS), scheduler=policy)
    with pytest.raises(BloxError) as stop:
        experiment.run()
    assert stop.value.what == f"the state is damaged: {told}"
    assert "Mine" in stop.value.where and "array.base" in stop.value.fix


def test_a_policy_may_write_to_what_is_worked_out_for_it(policy_file, tmp_path):
    harm = "free = cluster_state.node_free; free -= 1; cluster_state.is_free().fill(False)"
    policy = policy_file(ROGUE.format(harm=harm))
    jobs = trace(tmp_path / "jobs.csv", JOBS)
    assert Experiment(workload=jobs, scheduler=policy).run().summary["finished"] == 2


def test_the_ids_of_free_gpus_are_for_reading(policy_file, tmp_path):
    """They are the cluster's own: sorted or shifted in place, other jobs would get wrong GPUs."""
    policy = policy_file(ROGUE.format(harm="cluster_state.free_ids()[:] += 1"))
    with pytest.raises(BloxError, match=r"schedule\(\) changes the state in place"):
        Experiment(workload=trace(tmp_path / "jobs.csv", JOBS), scheduler=policy).run()
