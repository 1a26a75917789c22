"""Input that is not meant well, or is far out of range: each is answered at once, in words, with a place.

Nothing of it may run for ever, fill the memory, end in a trace of Python, or pass for a job.
"""

import gzip
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from blox import Experiment

HEAD = "job_id,submit_s,gpus,duration_s"
DIGITS = "9" * 5000
NESTED = "[" * 100_000
RUN_ANYWHERE = "run --jobs 5"
RUN = f"{RUN_ANYWHERE} --cluster 2x4"


@dataclass(frozen=True)
class Hostile:
    """Words on the command line, the files they need, and what the answer must say."""

    words: str
    says: tuple[str, ...]
    files: dict[str, str | bytes] = field(default_factory=dict)


def spec(words, *says, **files):
    run = RUN_ANYWHERE if "--cluster" in words else RUN
    return Hostile(f"{run} {words}", says, {name.replace("__", "."): text for name, text in files.items()})


def trace(line, *says, head=HEAD):
    return Hostile(f"{RUN} --workload t.csv", ("t.csv:", *says), {"t.csv": f"{head}\n{line}\n"})


def trace_of(kind, name, text, *says, options="", **files):
    there = {name: text, **{other.replace("__", "."): content for other, content in files.items()}}
    return Hostile(f"{RUN} --workload {kind}:{name}{options}", says, there)


def toml(text, *says, command="run"):
    return Hostile(f"{command} e.toml", ("e.toml", *says), {"e.toml": text})


def cluster(text, *says):
    return Hostile("run --jobs 5 --cluster c.toml", ("c.toml", *says), {"c.toml": text})


def gavel(kind="A3C", weight="1", steps="1000"):
    return "\t".join([kind, "cmd", "dir", "arg", "0", steps, "1", weight, "-1", "0"]) + "\n"


THROUGHPUTS = json.dumps({"v100": {"('A3C', 1)": {"null": 1.0}}})
PAI_JOBS = "job_name,inst_id,user,status,start_time,end_time\na,i,u,Terminated,0,60\n"
PAI_TASKS = (
    "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n"
    "a,t,1,Terminated,0,60,600,1,{plan_gpu},T4\n"
)
ACME = (
    "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,type,submit_time,start_time,end_time\n"
    "a,u,{nodes},1,1,{memory},train,2023-03-01 00:00:00,2023-03-01 00:00:00,2023-03-01 01:00:00\n"
)
POLLUX = {
    "w/jobs.csv": "name,time,application,num_replicas,batch_size\na,0,app,1,32\n",
    "applications/app/validation-32.csv": "progress,grad_sqr,grad_var\n10,1,1\n20,1,1\n",
}


def pollux(placement="1", local_bsz="32", validation="validation-32"):
    placements = f"placement,local_bsz,step_time,sync_time\n{placement},{local_bsz},0.1,0.01\n"
    files = {name.replace("validation-32", validation): text for name, text in POLLUX.items()}
    return {**files, "applications/app/placements.csv": placements}


CASES = {
    # endless or unbounded
    "a round of nothing": spec("--round 1e-300", "round", "0.001 to 1,000,000,000"),
    "a round without end": spec("--round 1e300", "round", "0.001 to 1,000,000,000"),
    "a quantum of nothing": spec("--clock events:quantum_s=1e-300", "quantum_s is 1e-300", "1e-09 to"),
    "a start that never ends": spec("--overheads launch=1e308", "launch=1e308", "at most 86,400 (a day)"),
    "a restart that never ends": spec("--overheads restart=1e9", "restart=1e9", "at most 86,400 (a day)"),
    "jobs that never come": spec("--workload gavel:load=1e-300", "load is 1e-300", "1e-06 to 1e+12"),
    "jobs that come at once": spec("--workload philly:load=1e300", "load is 1e+300", "1e-06 to 1e+12"),
    "a pause between jobs without end": spec("--workload constant:every_s=1e300", "every_s is 1e+300"),
    "a scale beyond measure": trace_of(
        "csv", "t.csv", f"{HEAD}\na,1,1,60\n", "scale", options="?scale=1e300"
    ),
    "a scale that moves jobs beyond measure": trace_of(
        "csv",
        "t.csv",
        f"{HEAD}\na,0,1,60\nb,1e6,1,60\n",
        "t.csv",
        "puts the last submission at 1e+14 s",
        "at most 10,000,000,000",
        options="?scale=1e8",
    ),
    "a scale that is written away": Hostile(
        "workload convert csv:t.csv?scale=1e308 out.csv",
        ("scale is 1e+308",),
        {"t.csv": f"{HEAD}\na,1,1,60\n"},
    ),
    "a header of commas": trace_of("csv", "t.csv", "," * 200_000 + "\n", "t.csv:1", "'job_id' is missing"),
    "a header of commas and names": trace_of(
        "csv", "t.csv", HEAD + "," * 200_000 + "\n", "t.csv:1", "two columns have no name"
    ),
    "a header of other names": trace_of(
        "csv",
        "t.csv",
        ",".join(f"c{n}" for n in range(100_000)) + "\n",
        "'job_id' is missing",
        "columns present: c0, c1, c2,",
        "c19, ... (99,980 more)",
    ),
    "an option of a cluster of 5,000 letters": spec(
        f"--cluster 2x4:{'x' * 5000}=1", "no option is called 'xxx"
    ),
    "a header of names": trace_of(
        "csv",
        "t.csv",
        HEAD + "," + ",".join(f"c{n}" for n in range(100_000)) + "\n",
        "no column is called 'c0'",
    ),
    "seeds without end": Hostile("sweep --seed 0-99999999 --out s", ("100,000,000 values", "at most 10,000")),
    "loads without end": Hostile("sweep --load 1-999999999999 --out s", ("values", "at most 10,000")),
    "combinations without end": Hostile(
        "sweep --seed 0-999 --load 1-999 --out s", ("999,000 combinations", "at most 10,000")
    ),
    "a message of megabytes": spec(f"--scheduler {'x' * 100_000}", "no scheduling part", "characters more"),
    "a cluster of nodes without end": spec("--cluster 9999999x1", "9,999,999 nodes", "at most 100,000"),
    "a cluster of groups without end": spec("--cluster a=99999x1,b=99999x1", "199,998 nodes"),
    "rates without end": spec(
        "--workload t.csv --performance table:path=r.csv",
        "r.csv:2",
        "the rate is 1e-300",
        "1e-06 to 1,000,000",
        t__csv=f"{HEAD}\na,0,1,60\n",
        r__csv="model,gpu_type,gpus,consolidated,rate\n*,*,*,1,1e-300\n",
    ),
    "jobs of a file without end": Hostile("workload describe constant --jobs 999999999999", ("10000000",)),
    **{
        f"jobs of {workload} without end": spec(f"--workload {workload}", f"{name} is", "at most 10,000,000")
        for workload, name in (
            ("philly:load=8,jobs=999999999999", "jobs"),
            ("constant:jobs=999999999", "jobs"),
            ("elastic:jobs=999999999", "jobs"),
        )
    },
    "jobs of a spike without end": spec(
        "--workload philly:spike_jobs=999999999999", "spike_jobs is", "at most 1,000,000"
    ),
    "jobs of a run without end": Hostile(
        "run --workload philly --jobs 999999999", ("jobs is 999999999", "at most 10,000,000")
    ),
    "a seed below zero": Hostile("workload describe philly --seed -1", ("seed is -1", "0 or more")),
    "GPUs of 5,000 digits": Hostile(
        f"workload describe philly --cluster {DIGITS}", ("does not describe nodes",)
    ),
    # nonsense in traces
    "a weight beyond measure": trace_of(
        "gavel",
        "g.trace",
        gavel(weight=str(2**63 - 1)),
        "g.trace:1",
        "priority",
        "1,000,000,000,000,000",
        options="?throughputs=t.json",
        t__json=THROUGHPUTS,
    ),
    "a GPU plan below zero": trace_of(
        "pai",
        "pai_job_table.csv",
        PAI_JOBS,
        "pai_task_table.csv:2",
        "plan_gpu is '-100'",
        "plan_gpu must be 0 or more",
        pai_task_table__csv=PAI_TASKS.format(plan_gpu=-100),
    ),
    "memory without end": trace_of(
        "acme", "a.csv", ACME.format(nodes=1, memory="inf"), "a.csv:2", "mem_per_pod_GB is 'inf'"
    ),
    "memory beyond measure": trace_of(
        "acme",
        "a.csv",
        ACME.format(nodes=1, memory="1e300"),
        "a.csv:2",
        "memory_gb is 1e+300",
        "1,000,000,000",
    ),
    "nodes below zero": trace_of(
        "acme", "a.csv", ACME.format(nodes=-5, memory=1), "a.csv:2", "node_num is '-5'", "0 or more"
    ),
    "a number as Python writes it": trace("a,0,1,1_000", "duration_s is '1_000'", "write a number"),
    "digits of another script": trace("a,0,1,١٢", "duration_s is '١٢'", "write a number"),
    "a blank id": trace("' ',0,1,60\n  ,0,1,60", "t.csv:3", "job_id", "empty or blank"),
    "a NUL in an id": trace("a\0b,0,1,60", "t.csv:2", "NUL"),
    "a duration of nothing": trace("a,0,1,5e-324", "t.csv:2", "duration_s is 5e-324", "0.001 or more"),
    "a priority beyond measure": trace("a,0,1,60,1e16", "t.csv:2", "priority", head=f"{HEAD},priority"),
    "cores beyond measure": trace("a,0,1,60,1e300", "t.csv:2", "cpu is 1e+300", head=f"{HEAD},cpu"),
    "GPUs to grow to beyond measure": trace(
        "a,0,1,60,1000000000", "t.csv:2", "max_gpus is 1000000000", head=f"{HEAD},max_gpus"
    ),
    # what parsers choke on
    "TOML nested too deeply": toml(f"jobs = {NESTED}", "is not TOML", "nested too deeply"),
    "a number of 5,000 digits": toml(f"jobs = {DIGITS}", "is not TOML", "thousands of digits"),
    "a whole number that no float holds": Hostile(
        "run e.toml", ("the round is inf s",), {"e.toml": f"round_s = 1{'0' * 400}"}
    ),
    "a count that no table holds": Hostile(
        "run e.toml", ("jobs is 1000", "at most 1,000,000,000,000,000"), {"e.toml": f"jobs = 1{'0' * 100}"}
    ),
    "a window of 5,000 digits": spec(f"--window 0-{DIGITS}", "window", "FIRST-LAST"),
    "a cluster of 5,000 digits": spec(f"--cluster {DIGITS}x4", "does not describe nodes"),
    "seeds of 5,000 digits": Hostile(f"sweep --seed 0-{DIGITS} --out s", ("is not a number or a range",)),
    "a throughput table nested too deeply": trace_of(
        "gavel",
        "g.trace",
        gavel(),
        "t.json",
        "nested too deeply",
        options="?throughputs=t.json",
        t__json=NESTED,
    ),
    "a throughput table of 5,000 digits": trace_of(
        "gavel",
        "g.trace",
        gavel(),
        "t.json",
        "thousands of digits",
        options="?throughputs=t.json",
        t__json=DIGITS,
    ),
    "rates below zero": spec(
        "--scheduler gavel:throughputs=t.json",
        "t.json",
        "is not a table of throughputs",
        "-1.0",
        t__json=THROUGHPUTS.replace("1.0", "-1.0"),
    ),
    "job types that nest too deeply": spec(
        "--scheduler gavel:throughputs=t.json",
        "t.json",
        "is not a table of throughputs",
        t__json=json.dumps({"v100": {"(" * 5000: {"null": 1.0}}}),
    ),
    "a batch size of 20 digits": trace_of(
        "gavel",
        "g.trace",
        gavel(kind=f"A3C (batch size {'9' * 20})"),
        "g.trace:1",
        "no throughput of",
        options="?throughputs=t.json",
        t__json=THROUGHPUTS,
    ),
    "a log nested too deeply": trace_of("philly", "log.json", NESTED, "log.json", "nested too deeply"),
    "a placement that is no digits": Hostile(
        f"{RUN} --workload pollux:w/jobs.csv",
        ("placements.csv:2", "placement is 'II'"),
        pollux(placement="II"),
    ),
    "a batch of nothing": Hostile(
        f"{RUN} --workload pollux:w/jobs.csv", ("placements.csv:2", "local_bsz is '0'"), pollux(local_bsz="0")
    ),
    "a validated batch of nothing": Hostile(
        f"{RUN} --workload pollux:w/jobs.csv",
        ("no validation-<batch size>.csv",),
        pollux(validation="validation-0"),
    ),
    "a home of no user": spec("--workload csv:~nosuchuser/x.csv", "~nosuchuser/x.csv", "without ~"),
    "a home of no user for a cluster": spec("--cluster tiresias:~nosuchuser/c.csv", "~nosuchuser/c.csv"),
    "nodes that are no table": cluster("nodes = [1]", "nodes holds 1", "[[nodes]]"),
    "links in a list": cluster(
        "[[nodes]]\ngpus = 4\n[[links]]\ngpu = [[1]]\n", "links is no table", "[links]"
    ),
    "a rack beyond measure": cluster(f"[[nodes]]\ngpus = 4\nrack = 1{'0' * 30}\n", "rack is 1000"),
    "memory of a node beyond measure": cluster(
        f"[[nodes]]\ngpus = 4\nmemory_gb = 1{'0' * 400}\n", "memory_gb is"
    ),
    "a provenance that is no table": toml("provenance = 1\n", "provenance is 1", "leave it out"),
    "a provenance that is no table, of several": toml(
        "provenance = 1\n", "provenance is 1", command="compare"
    ),
    "a cluster of superscripts": Hostile(
        f"{RUN_ANYWHERE} --cluster tiresias:c.csv",
        ("c.csv", "num_switch is '²'", "a whole number"),
        {"c.csv": "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n²,1,4,64,256\n"},
    ),
    "a profile cell of a megabyte": spec(
        "--workload t.csv --performance table:path=r.csv",
        "r.csv:2",
        "is not CSV",
        t__csv=f"{HEAD}\na,0,1,60\n",
        r__csv=f"model,gpu_type,gpus,consolidated,rate\n{'x' * 200_000},*,*,1,1\n",
    ),
}


# answers that tell a name or a list out of the input cut it
BRIEF = (
    "a header of commas",
    "a header of other names",
    "a cluster of 5,000 digits",
    "GPUs of 5,000 digits",
    "an option of a cluster of 5,000 letters",
)


@pytest.mark.parametrize("name", CASES)
def test_it_is_answered_in_words(command, tmp_path, monkeypatch, name):
    case = CASES[name]
    monkeypatch.chdir(tmp_path)
    for file, content in case.files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(content.encode() if isinstance(content, str) else content)
    answer = command(*case.words.split())
    assert answer.code == 2, answer.err
    for words in case.says:
        assert words in answer.err
    assert len(answer.err) < (600 if name in BRIEF else 8000)
    assert not (tmp_path / "s").exists() and not (tmp_path / "out.csv").exists()


def test_a_gzip_file_that_unpacks_without_end(command, tmp_path, monkeypatch):
    monkeypatch.setattr("blox.workloads.text_files.MOST_BYTES", 2**20)
    bomb = tmp_path / "t.csv.gz"
    bomb.write_bytes(gzip.compress(b"0" * 2**24))
    assert bomb.stat().st_size < 2**16
    answer = command("run", "--workload", bomb)
    assert answer.code == 2
    assert f"{bomb}: unpacks to more than 1 MB" in answer.err


def test_a_plain_file_without_end(command, tmp_path, monkeypatch):
    monkeypatch.setattr("blox.workloads.text_files.MOST_BYTES", 2**20)
    (tmp_path / "t.csv").write_text("0" * 2**21)
    answer = command("run", "--workload", tmp_path / "t.csv")
    assert answer.code == 2
    assert "t.csv: has more than 1 MB" in answer.err


def test_memory_that_is_not_there_is_told(command, monkeypatch):
    def runs_out(*_, **__):
        raise MemoryError

    monkeypatch.setattr("blox.experiment.prepared.Prepared.run", runs_out)
    for words in (["run"], ["compare", "--processes", 1]):
        answer = command(*words, "--workload", "constant", "--jobs", 3)
        assert answer.code == 2
        assert "not enough memory" in answer.err and "Traceback" not in answer.err


def test_jobs_that_are_stopped_before_they_have_started_end_the_run(command, tmp_path):
    """Two jobs take turns every round of 300 s; each needs 400 s to start."""
    (tmp_path / "t.csv").write_text(f"{HEAD}\na,0,4,3000\nb,10,4,3000\n")
    words = ["--workload", tmp_path / "t.csv", "--cluster", "1x4", "--scheduler", "las"]
    answer = command("run", *words, "--overheads", "restart=400")
    assert answer.code == 2
    assert "none of 2 jobs has made any progress" in answer.err and "longer rounds" in answer.err
    assert command("run", *words, "--overheads", "restart=200").code == 0


def test_a_label_that_is_no_text_is_told_before_the_run():
    with pytest.raises(Exception, match="label holds bytes that are not UTF-8"):
        Experiment(label="\udcff")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--workload", "constant", "--label", "größe"], 0, "größe"),
        (["--workload", "größe.csv"], 2, "workload is UTF-8, and the locale is not: größe.csv"),
        (["--workload", "constant", "--out", "größe"], 2, "the name is UTF-8, and the locale is not: größe"),
    ],
)
def test_utf8_in_a_locale_that_is_not(tmp_path, words, code, says):
    """Python hands the bytes of such words over as lone surrogates; output is UTF-8 where it is asked for."""
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "utf-8"}
    run = [sys.executable, "-m", "blox", "run", "--jobs", "3", "--cluster", "2x4"]
    answer = subprocess.run(
        [*run, *words], env={**os.environ, **locale}, cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    assert answer.returncode == code and says in answer.stdout + answer.stderr, answer
    assert "LC_ALL=C.UTF-8" in answer.stderr or code == 0


def test_labels_in_utf8_of_a_comparison_in_a_locale_that_is_not(command, tmp_path):
    words = ["--workload", "constant", "--jobs", 3, "--cluster", "2x4", "--scheduler", "fifo,las"]
    as_bytes = "größe".encode().decode("ascii", "surrogateescape")
    answer = command("compare", *words, "--label", f"{as_bytes},b", "--out", tmp_path / "c", "--no-report")
    assert answer.code == 0, answer.err
    assert 'label = ["größe,b"]' in (tmp_path / "c" / "compare.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("label", ["\x7f", "\x00", "\x1b[2J", '"\\\n', "\u2028", "=1+1"])
def test_any_label_is_saved_and_read_back(command, tmp_path, label):
    """Also those that TOML does not take as they are."""
    result = Experiment(workload="constant", cluster="2x4", jobs=3, label=label).run()
    place = result.save(tmp_path / "x")
    assert Experiment.from_toml(place / "experiment.toml").label == label
    assert command("run", place / "experiment.toml").code == 0
