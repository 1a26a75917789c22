"""Bad input, as users give it: each is answered with what is wrong, where, and how to mend it.

Exit code 2, no trace of Python, nothing half-written. Every case is run through the real command line.
"""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from blox import Experiment

HEAD = "job_id,submit_s,gpus,duration_s\n"
POLICY = """from dataclasses import dataclass

import numpy as np

from blox import Allocation, Schedule


@dataclass(frozen=True)
class Mine:
    '''Jobs as they come.'''

"""
SCHEDULE = POLICY + "    def schedule(self, job_state, cluster_state):\n"
ACCEPT = POLICY + "    def accept(self, new_jobs, cluster_state, job_state):\n"
PLACE = POLICY + "    def place(self, schedule, cluster_state, job_state):\n"
BATCHES = POLICY + "    def batches(self, rng):\n"


@dataclass(frozen=True)
class Bad:
    """Words on the command line, the files they need, and what the answer must say."""

    words: str
    says: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    before: Callable[[Path], object] = lambda place: None  # what else is there


def trace(lines, *says, head=HEAD, options=""):
    return Bad(f"run --workload t.csv{options} --cluster 2x4 --out out", says, {"t.csv": head + lines})


def spec(words, *says, **files):
    return Bad(
        f"run {words} --jobs 5 --out out", says, {name.replace("_", "."): t for name, t in files.items()}
    )


def toml(text, *says, command="run"):
    return Bad(f"{command} e.toml --out out", says, {"e.toml": text})


def cluster(text, *says):
    return Bad("run --cluster c.toml --jobs 5 --out out", says, {"c.toml": text})


def results(place):
    return Experiment(workload="constant", cluster="2x4", jobs=6).run().save(place / "done")


def damaged(command, name, how, *says):
    """Results of which one file is not as it was written: `how` takes its bytes and gives others."""

    def before(place):
        file = results(place) / name
        file.write_bytes(how(file.read_bytes()))

    return Bad(f"{command} done", (f"done/{name}", "damaged", *says), before=before)


def policy(option, body, *says, head=SCHEDULE):
    workload = "" if option == "workload" else "--workload gavel "
    words = f"run {workload}--{option} ./mine.py:Mine --cluster 2x4 --jobs 40 --out out"
    return Bad(words, says, {"mine.py": head + "".join(f"        {line}\n" for line in body.splitlines())})


CASES = {
    # lines of traces
    "a trace of another format": trace(
        "a,0,toy,1,8\n",
        "t.csv:1",
        "'job_id' is missing",
        "those of the format pollux: write pollux:t.csv",
        head="name,time,application,num_replicas,batch_size\n",
    ),
    "a batch size that no job of the application has": trace(
        "a,0,1,60,bert,1,8,64\nb,0,1,60,bert,1,8,100000\n",
        "t.csv:3",
        "'b': batch_size is 100000, and bert trains with 12 to 384",
        "from 12 to 384, or 0",
        head="job_id,submit_s,gpus,duration_s,model,min_gpus,max_gpus,batch_size\n",
    ),
    "limits of batch sizes the wrong way round": trace(
        "a,0,1,60,64,32\n",
        "t.csv:2",
        "min_batch_size is 64",
        head="job_id,submit_s,gpus,duration_s,min_batch_size,max_batch_size\n",
    ),
    "no such trace": Bad("run --workload gone.csv --out out", ("gone.csv", "no such file")),
    "an empty trace": trace("", "t.csv", "empty", "job_id, submit_s", head=""),
    "a head without jobs": trace("", "t.csv", "no jobs"),
    "a column is absent": trace("a,0,1\n", "t.csv", "duration_s", head="job_id,submit_s,gpus\n"),
    "a column is misspelt": trace(
        "a,0,1,5\n", "t.csv", "gpus", "gpu", head="job_id,submit_s,gpu,duration_s\n"
    ),
    "a cell is missing": trace("a,0,1,60\nb,0,1\n", "t.csv:3"),
    "a cell too many": trace("a,0,1,60,9\n", "t.csv:2"),
    "no number of GPUs": trace("a,0,two,60\n", "t.csv:2", "gpus", "two"),
    "half a GPU": trace("a,0,1.5,60\n", "t.csv:2", "gpus", "1.5"),
    "no GPU at all": trace("a,0,0,60\n", "t.csv:2", "gpus"),
    "a negative duration": trace("a,0,1,60\nb,0,1,-60\n", "t.csv:3", "duration_s", "-60"),
    "a duration that is no number": trace("a,0,1,nan\n", "t.csv:2", "duration_s"),
    "an endless duration": trace("a,0,1,inf\n", "t.csv:2", "duration_s"),
    "a duration beyond measure": trace(
        "a,0,1,60\nb,0,1,1e300\n", "t.csv:3", "duration_s is 1e+300", "1,000,000,000"
    ),
    "submitted beyond measure": trace("a,1e30,1,60\n", "t.csv:2", "submit_s", "10,000,000,000"),
    "a generator's duration beyond measure": spec("--workload constant:duration_s=1e300", "duration_s"),
    "more GPUs than there are": trace("a,0,20000000,60\n", "t.csv:2", "gpus is 20000000", "10,000,000"),
    "more GPUs than a number holds": trace(
        "a,0,99999999999999999999,60\n", "t.csv:2", "gpus is '99999999999999999999'"
    ),
    "a priority that no number holds": trace(
        "a,0,1,60,-1e300\n",
        "t.csv:2",
        "priority is '-1e300'",
        head="job_id,submit_s,gpus,duration_s,priority\n",
    ),
    "a quotation mark that is never closed": trace(
        'a,0,1,60\n"b,0,1,60\nc,0,1,60\n', "t.csv:3", "quotation mark"
    ),
    "a quotation mark that is closed too late": trace(
        'a,0,1,60\n"b,0,1,60\nc",0,1,60,9\n', "t.csv:3", "one row of 5 cells, 4 wanted", "quotation mark"
    ),
    "no job of so few GPUs": trace("a,0,4,60\n", "t.csv", "no job is left", options="?max_gpus=2"),
    "no number of GPUs to keep": trace("a,0,4,60\n", "max_gpus is 0", options="?max_gpus=0"),
    "submitted before the beginning": trace("a,-5,1,60\n", "t.csv:2", "submit_s", "-5"),
    "an id twice": trace("a,0,1,60\nb,0,1,60\na,9,1,60\n", "t.csv:4", "'a'", "first in line 2"),
    "no id": trace(",0,1,60\n", "t.csv:2", "job_id"),
    "a job wider than the cluster": trace(
        "a,0,1,60\nb,0,9,60\n", "t.csv:3", "'b'", "9 GPUs", "has 8", "PATH?max_gpus=8"
    ),
    "bytes that are no text": Bad("run --workload t.csv --out out", ("t.csv",), {"t.csv": "\0\1\2"}),
    "a directory for a trace": Bad("run --workload csv:. --out out", (".",)),
    "an unknown option of a reader": trace("a,0,1,60\n", "tennant", "valid:", options="?tennant=x"),
    "a trace format without a path": spec("--workload helios", "helios", "needs a path", "helios:PATH"),
    # specs
    "an unknown scheduler": spec(
        "--scheduler lsa",
        "scheduling spec 'lsa'",
        "no scheduling part is called 'lsa'",
        "did you mean 'las'?",
    ),
    "an unknown placement": spec("--placement consolidate", "did you mean 'consolidated'?"),
    "an unknown admission": spec("--admission thresh", "did you mean 'threshold'?"),
    "an unknown termination": spec("--termination complete", "did you mean 'completed'?"),
    "an unknown performance": spec("--performance tabel", "did you mean 'table'?"),
    "an unknown workload": spec("--workload phily:load=4", "did you mean 'philly'?"),
    "an unknown parameter": spec("--admission threshold:facter=2", "'facter'", "did you mean 'factor'?"),
    "a parameter of the wrong type": spec(
        "--admission threshold:factor=lots", "'lots' is not a number", "factor"
    ),
    "a parameter out of range": spec("--admission threshold:factor=-1", "factor", "-1"),
    "no key=value": spec("--scheduler las:time", "'time' is not key=value"),
    "a parameter twice": spec("--workload philly:load=4,load=5", "'load' is given twice"),
    "neither true nor false": spec("--scheduler fifo:strict=perhaps", "'perhaps'", "true or false"),
    "no such choice": spec("--scheduler las:by=mood", "mood", "gpu-time"),
    "a load of nothing": spec("--workload philly:load=0", "load", "above 0"),
    "jobs wider than the cluster": spec("--workload philly --cluster 1x4", "cluster has 4", "max_gpus=4"),
    "an unknown belief": spec("--belief orakel", "did you mean 'oracle'?"),
    "an unknown overhead": spec("--overheads lunch=30", "lunch=30", "launch=SECONDS"),
    "an unknown clock": spec("--clock round", "did you mean 'rounds'?"),
    "an unknown backend": spec("--backend simulator", "did you mean 'simulation'?"),
    "a round of no length": spec("--round 0", "round", "above 0"),
    "a negative seed": spec("--seed -1", "seed", "0 or more"),
    "no jobs": Bad("run --jobs 0 --out out", ("jobs is 0", "1 or more")),
    "an unknown option": spec(
        "--schedulr las", "no option is called --schedulr", "did you mean --scheduler?"
    ),
    "jobs in words": Bad("run --jobs many --out out", ("--jobs", "integer", "blox run --help")),
    "no rounds": spec("--max-rounds 0", "max_rounds is 0"),
    "an unknown preset": spec("--compat bloks", "did you mean 'blox'?"),
    "an unknown policy of a preset": spec("--compat blox:policy=LAS", "'LAS'", "did you mean 'Las'?"),
    "a preset and a scheduler": spec(
        "--compat blox --scheduler las", "together with --compat", "leave it out"
    ),
    "a preset and the default": spec(
        "--compat blox --scheduler fifo", "--scheduler together", "leave it out"
    ),
    # Gavel
    "an unknown policy of gavel": spec(
        "--scheduler gavel:policy=max_min_fairnes", "did you mean 'max_min_fairness'?", "valid: allox, fifo"
    ),
    "a job wider than any GPU type": Bad(
        "run --workload t.csv --scheduler gavel --cluster v100=1x4,k80=1x4 --out out",
        ("job 'b' takes 8 GPUs of one type", "4 v100, 4 k80", "add GPUs of a type it can run on"),
        {"t.csv": HEAD + "a,0,1,60\nb,0,8,60\n"},
    ),
    "a job that its GPU type cannot run": Bad(
        "run --workload t.csv --scheduler fifo --cluster k80=1x4,v100=1x4 --out out",
        ("job 'a'", "on k80 GPUs, where its throughput is 0", "gpu_types"),
        {"t.csv": HEAD.strip() + ",model\na,0,2,60,ResNet-50 (batch size 128)\n"},
    ),
    "jobs of several GPUs for AlloX": spec(
        "--scheduler gavel:policy=allox --workload gavel:multi=true --cluster v100=8x4,k80=8x4",
        "AlloX knows jobs of one GPU only",
    ),
    "a table of throughputs that is none": spec(
        "--scheduler gavel:throughputs=t.json", "t.json", "is not a table of throughputs", t_json="[1]"
    ),
    "entities that nobody named": spec("--scheduler gavel:entity_weights=red:2", "entities=tenant"),
    # windows
    "no window": spec("--window 3000", "'3000' is not a window", "FIRST-LAST"),
    "a window backwards": spec("--window 40-30", "'40-30' runs backwards", "30-40"),
    "a window that the jobs do not reach": spec("--window 0-5", "window ends with job 5", "0 to 4"),
    "a window behind the trace": trace(
        "a,0,1,60\n", "window ends with job 9", "0 to 0", options=" --window 0-9"
    ),
    # clusters
    "no cluster": spec("--cluster big", "'big' does not describe nodes", "32x4"),
    "a cluster without nodes": spec("--cluster 0x4", "0 nodes of 4 GPUs"),
    "a cluster beyond measure": spec("--cluster 9000000x8", "72,000,000 GPUs", "at most"),
    "an unknown option of a cluster": spec("--cluster 4x4:cpus=8", "'cpus'", "did you mean 'cpu'?"),
    "GPU types twice": spec("--cluster v100=2x4,v100=3x4", "same GPU type"),
    "no such cluster file": spec("--cluster gone.toml", "gone.toml", "no such file"),
    "a cluster file that is no TOML": cluster("nodes = [\n]]", "c.toml", "not TOML", "line 2"),
    "a cluster file without nodes": cluster("network_gbps = 10\n", "c.toml", "[[nodes]]"),
    "an unknown setting of a node": cluster(
        "[[nodes]]\ngpu = 4\n", "[[nodes]] number 1", "did you mean 'gpus'?"
    ),
    "no number of nodes": cluster('[[nodes]]\ngpus = 4\ncount = "two"\n', "count is 'two'", "whole number"),
    "links that do not fit": cluster(
        "[[nodes]]\ngpus = 2\n[links]\ngpu = [[0]]\n", "c.toml:4, [links] gpu", "2 x 2"
    ),
    # TOML
    "no such file": Bad("run gone.toml --out out", ("gone.toml", "no such file")),
    "no TOML": toml("scheduler = las\n", "e.toml", "not TOML", "line 1"),
    "an unknown setting": toml('sheduler = "las"\n', "e.toml", "'sheduler'", "did you mean 'scheduler'?"),
    "a number for a text": toml("scheduler = 4\n", "e.toml", "scheduler is 4", "text in quotes"),
    "a text for a number": toml('seed = "one"\n', "e.toml", "seed is 'one'", "whole number"),
    "a list for one run": toml('scheduler = ["las", "fifo"]\n', "e.toml", "scheduler", "blox compare"),
    "an unknown setting to sweep": toml("[sweep]\nlods = [4]\n", "[sweep]", "'load'", command="sweep"),
    "nothing to sweep": toml("[sweep]\nload = []\n", "load is an empty list", command="sweep"),
    "a round of two lengths": toml("round = 300\nround_s = 600\n", "e.toml", "round and round_s"),
    "rounds of two lengths": toml(
        "round = 300\nround_s = [600]\n", "round_s is given twice", command="sweep"
    ),
    "a misspelt round": toml("ruond = 300\n", "did you mean 'round'?"),
    "a file beside the settings": Bad(
        "run far/e.toml --out out",
        ("t.csv", "no such file", "looked in", "count from where you are"),
        {"far/e.toml": 'workload = "t.csv"\n', "far/t.csv": HEAD + "a,0,1,9\n"},
    ),
    "a setting twice": toml("seed = 1\n[sweep]\nseed = [1]\n", "seed is given twice", command="sweep"),
    # compare and sweep
    "a mistake in one of several": Bad("compare --scheduler las,fiffo --out out", ("did you mean 'fifo'?",)),
    "a scheduler twice": Bad("compare --scheduler fifo,las,fifo --out out", ("--scheduler", "fifo", "twice")),
    "schedulers of one run": spec("--scheduler fifo,las", "for blox compare --scheduler fifo,las"),
    "clusters of one run": spec("--cluster 1x4,2x4", "for blox sweep --cluster 1x4,2x4", "join them"),
    "workloads of a comparison": Bad(
        "compare --workload a.csv,b.csv --out out", ("no such file", "for blox sweep --workload a.csv,b.csv")
    ),
    "a metric misspelt": spec("--metric eveness", "did you mean 'evenness'?", "./mine.py:function"),
    "no log to decide on": Bad("decide --history nope.txt --cluster 2x4", ("nope.txt: no such file",)),
    "a decision without a log": Bad("decide --history philly:load=3 --cluster 2x4", ("is no trace",)),
    "a generator of one's own with a job too large": Bad(
        "run --workload mine.py:Mine --cluster 1x4 --out out",
        ("asks for 9 GPUs", "use a larger cluster, or leave such jobs out\n"),
        {
            "mine.py": BATCHES.replace(
                "import numpy", "from blox.workloads.table import JobTable\nimport numpy"
            )
            + "        columns = dict(job_id=['a'], submit_s=[0], gpus=[9], duration_s=[9])\n"
            + "        yield JobTable.build(columns, source='mine')\n"
        },
    ),
    "a generator without max_gpus": spec(
        "--workload constant:job_gpus=9 --cluster 1x4", "or let the workload give smaller jobs"
    ),
    "a sweep to report": Bad(
        "report swept --out r.html",
        ("experiment.toml is missing", "one of its runs, such as swept/runs/a"),
        before=lambda place: (place / "swept" / "runs" / "a").mkdir(parents=True),
    ),
    "a seed twice": Bad("sweep --seed 0-4,2 --out out", ("--seed", "2 is given twice")),
    "a load twice": toml("[sweep]\nload = [4, 8, 4.0]\n", "load", "4.0 is given twice", command="sweep"),
    "real processes in a simulation": spec(
        "--backend replay:speedup=10", "blox replay WORKLOAD --speedup 10"
    ),
    "an empty value": Bad("sweep --seed 0,,2 --out out", ("--seed", "an empty value")),
    "no range": Bad("sweep --seed 4-0 --out out", ("--seed", "'4-0'", "0-4")),
    "a load for a trace": Bad(
        "sweep --workload t.csv --load 4 --out out", ("load", "t.csv"), {"t.csv": HEAD + "a,0,1,9\n"}
    ),
    "no place for a sweep": Bad("sweep --seed 0-1", ("--out",)),
    # results
    "a file in the way": Bad(
        "run --jobs 5 --out out.txt", ("out.txt", "give a directory"), {"out.txt": "mine"}
    ),
    "something else beside an experiment": Bad(
        "run proj/experiment.toml --jobs 5 --out proj",
        ("proj", "holds 'thesis.txt', which is not from an earlier run", "new directory"),
        {"proj/experiment.toml": "", "proj/thesis.txt": "mine"},
    ),
    "an experiment of one's own": Bad(
        "run proj/experiment.toml --out proj",
        ("proj", "holds 'experiment.toml', which is not from an earlier run"),
        {"proj/experiment.toml": "jobs = 5  # enough\n"},
    ),
    "something else beside results": Bad(
        "run --jobs 5 --out done",
        ("done", "holds 'mine.txt'"),
        before=lambda place: (results(place) / "mine.txt").write_text("mine"),
    ),
    "a folder beside results": Bad(
        "run --jobs 5 --out done",
        ("done", "holds 'report.html'"),
        before=lambda place: (results(place) / "report.html").mkdir(),
    ),
    "something else beside results of a comparison": Bad(
        "compare --scheduler fifo,las --jobs 5 --out both",
        ("both/fifo", "holds 'mine.txt'"),
        {"both/fifo/experiment.toml": "", "both/fifo/mine.txt": "mine"},
    ),
    "the directory one is in": Bad(
        "run --jobs 5 --out .", ("cannot be replaced", "you are in", "such as run")
    ),
    "rounds cut short": damaged("explain", "rounds.parquet", lambda had: had[: len(had) // 2]),
    "stints cut short": damaged("report", "stints.parquet", lambda had: had[: len(had) // 2]),
    "no stints at all": damaged("report", "stints.parquet", lambda had: b""),
    "jobs cut short": damaged("explain", "jobs.csv", lambda had: had[: len(had) // 2], "6 jobs"),
    "the last job is missing": damaged(
        "report", "jobs.csv", lambda had: b"".join(had.splitlines(keepends=True)[:-1]), "6 jobs"
    ),
    "the last cell is cut short": damaged("explain", "jobs.csv", lambda had: had[:-2]),
    "no jobs at all": damaged("report", "jobs.csv", lambda had: b""),
    "a column of jobs renamed": damaged(
        "explain", "jobs.csv", lambda had: had.replace(b"submit_s", b"submitted"), "'submit_s'", "missing"
    ),
    "a column of rounds renamed": damaged(
        "report", "rounds.parquet", lambda had: had.replace(b"held", b"hold"), "'held'", "missing"
    ),
    "a word among the figures of jobs": damaged(
        "explain", "jobs.csv", lambda had: had.replace(b"finished,1", b"finished,one"), "'in_window'", "'one'"
    ),
    "a summary cut short": damaged("explain", "summary.json", lambda had: had[: len(had) // 2]),
    "a summary that is no table": damaged("report", "summary.json", lambda had: b"[]\n"),
    "a figure that is missing": damaged(
        "explain", "summary.json", lambda had: had.replace(b"end_s", b"end"), "'end_s'", "missing"
    ),
    "a figure that is no number": damaged(
        "report", "summary.json", lambda had: had.replace(b'"submitted": 6', b'"submitted": "six"'), "'six'"
    ),
    "settings that are no TOML": damaged("explain", "experiment.toml", lambda had: b"seed = \n"),
    "settings that are no text": damaged("report", "experiment.toml", lambda had: b"\xff\xfe"),
    "no results": Bad("explain nowhere", ("nowhere", "no such directory", "blox run --out")),
    "a report of nothing": Bad("report nowhere", ("nowhere", "no such directory")),
    # files with policies
    "no such policy file": spec("--scheduler ./gone.py:Mine", "gone.py", "no such file"),
    "a file without a class": spec("--scheduler ./mine.py", "./mine.py:Class", mine_py="x = 1\n"),
    "no such class": spec(
        "--scheduler ./mine.py:Mime", "did you mean 'Mine'?", mine_py="class Mine:\n    pass\n"
    ),
    "a file that is no Python": spec(
        "--scheduler ./mine.py:Mine", "mine.py:1", "SyntaxError", mine_py="class Mine\n"
    ),
    "a file that fails": spec(
        "--scheduler ./mine.py:Mine", "mine.py:2", "ZeroDivisionError", mine_py="\n1 / 0\n"
    ),
    "a class without the method": spec(
        "--scheduler ./mine.py:Mine", "no method schedule()", mine_py="class Mine:\n    x = 1\n"
    ),
    "a class that wants arguments": spec(
        "--scheduler ./mine.py:Mine",
        "@dataclass",
        mine_py="class Mine:\n    def __init__(self, x):\n        pass\n",
    ),
    "a workload without batches": spec(
        "--workload ./mine.py:Mine", "batches", mine_py="class Mine:\n    x = 1\n"
    ),
    "a workload that raises": policy(
        "workload", "yield 1 / 0", "mine.py:13", "ZeroDivisionError", head=BATCHES
    ),
    "a policy that raises": policy("scheduler", "return 1 / 0", "mine.py:13", "ZeroDivisionError"),
    "a policy that returns nothing": policy("scheduler", "pass", "mine.py", "returns None", "Schedule"),
    "a policy that returns nonsense": policy("scheduler", "return [3, 1, 2]", "mine.py", "not a Schedule"),
    "a policy that changes a column": policy(
        "scheduler",
        "job_state.columns.gpus[:] = 1\nreturn Schedule.ordered(job_state)",
        "mine.py:13",
        "state",
    ),
    "a policy that writes to an accessor": policy(
        "scheduler",
        "job_state.gpus[:] = 1\nreturn Schedule.ordered(job_state)",
        "mine.py:13",
        "read-only",
        "array.copy()",
    ),
    "a policy that writes to a column by name": policy(
        "scheduler",
        "job_state.column('gpus')[:] = 1\nreturn Schedule.ordered(job_state)",
        "mine.py:13",
        "read-only",
    ),
    "a policy that is async": policy(
        "scheduler",
        "return Schedule.ordered(job_state)",
        "schedule() is async",
        "write def schedule(self, job_state, cluster_state)",
        head=SCHEDULE.replace("    def", "    async def"),
    ),
    "a policy that takes other arguments": policy(
        "scheduler",
        "return Schedule.ordered(job_state)",
        "mine.py:12",
        "cannot be called",
        "write def schedule(self, job_state, cluster_state)",
        head=SCHEDULE.replace(", cluster_state", ""),
    ),
    "a policy that lists jobs before there are any": policy(
        "scheduler", "return Schedule(np.array([5]))", "mine.py", "no job has been submitted"
    ),
    "a policy that gives itself attributes": policy(
        "scheduler", "self.seen = 1\nreturn Schedule.ordered(job_state)", "mine.py:13", "memory"
    ),
    "a policy that admits strangers": policy(
        "admission", "return np.array([12345])", "mine.py", "accept", head=ACCEPT
    ),
    "a policy that admits nobody": policy(
        "admission", "return new_jobs[:0]", "held", "nothing will change", head=ACCEPT
    ),
    "a policy that places nonsense": policy(
        "placement", "return 'everywhere'", "mine.py", "Allocation", head=PLACE
    ),
    "a policy that changes the cluster": policy(
        "placement", "cluster_state.allocation = None\nreturn cluster_state.allocation", "mine.py", head=PLACE
    ),
}


def write(case, place):
    for name, text in case.files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    case.before(place)


def tree(place):
    """Every file by name, with what it holds."""
    found = (path for path in place.rglob("*") if "__pycache__" not in str(path))
    return {str(path.relative_to(place)): path.is_file() and path.read_bytes() for path in found}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_answered(command, tmp_path, monkeypatch, name):
    case = CASES[name]
    write(case, tmp_path)
    monkeypatch.chdir(tmp_path)
    before = tree(tmp_path)
    answer = command(*case.words.split())
    assert answer.code == 2, answer
    assert answer.err.startswith("error: ")
    assert "Traceback" not in answer.err
    assert "fix:" in answer.err
    for words in case.says:
        assert words in answer.err
    assert answer.out == ""
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "name", ["a negative duration", "an unknown scheduler", "a policy that raises", "jobs in words"]
)
def test_the_installed_command_answers_alike(tmp_path, name):
    case = CASES[name]
    write(case, tmp_path)
    words = [sys.executable, "-m", "blox.cli.main", *case.words.split()]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    for words_needed in case.says:
        assert words_needed in done.stderr


def test_an_option_like_no_other_is_answered_without_guesses(command):
    answer = command("run", "--bogus")
    assert answer.code == 2
    assert "--jobs" not in answer.err


def test_the_table_is_long_enough():
    assert len(CASES) >= 40
