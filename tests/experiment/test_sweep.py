"""Grids and parallel processes: the same bytes whatever the number, and what was finished is kept."""

import csv
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib

import pytest

from blox import BloxError, Experiment
from blox.disk.toml_text import to_toml
from blox.experiment.parallel import Task, run_tasks
from blox.experiment.run_folders import is_finished, run_name, slug
from blox.experiment.sweep import Grid, own_load, setting_of, values_of, with_load
from support.pages import shell
from support.waiting import PATIENCE_S, eventually

SMALL = ["--workload", "gavel:multi=true", "--cluster", "4x4", "--jobs", 30]
SWEEP = [*SMALL, "--load", "6,12", "--scheduler", "fifo,las", "--seed", "0-1"]


def test_every_combination_once_in_the_order_of_the_settings():
    grid = Grid(
        Experiment(workload="philly"), {"seed": [0, 1], "scheduler": ["las", "fifo"], "load": [4.0, 8.0]}
    )
    found = [(e.workload, e.scheduler, e.seed) for e in grid.experiments()]
    assert found[:3] == [
        ("philly:load=4", "las", 0),
        ("philly:load=4", "las", 1),
        ("philly:load=4", "fifo", 0),
    ]
    assert len(found) == len(set(found)) == 8
    assert grid.varying() == ["load", "scheduler", "seed"]


def test_presets_stand_beside_the_policies():
    grid = Grid(
        Experiment(), {"scheduler": ["las"], "admission": ["accept-all", "quota"], "compat": ["blox"]}
    )
    found = [(e.compat, e.scheduler, e.admission) for e in grid.experiments()]
    assert found == [("", "las", "accept-all"), ("", "las", "quota"), ("blox", "fifo", "accept-all")]
    only = Grid(Experiment(), {"compat": ["blox:policy=Las", "blox:policy=Srtf"]})
    assert [e.compat for e in only.experiments()] == ["blox:policy=Las", "blox:policy=Srtf"]


def test_equal_experiments_run_once():
    assert len(Grid(Experiment(), {"scheduler": ["las", "las"]}).experiments()) == 1


def test_a_grid_survives_toml():
    grid = Grid(Experiment(jobs=9), {"scheduler": ["las", "fifo"], "load": [4.0], "round_s": [60.0]})
    again = Grid.from_table(tomllib.loads(to_toml(grid.to_table())), where="here")
    assert again.experiments() == grid.experiments()


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("scheduler", "fifo,las:by=time,strict=true,srtf", ["fifo", "las:by=time,strict=true", "srtf"]),
        ("cluster", "v100=9x4,p100=9x4,32x4", ["v100=9x4,p100=9x4", "32x4"]),
        (
            "admission",
            "quota:user_jobs=2,user_gpus=4,accept-all",
            ["quota:user_jobs=2,user_gpus=4", "accept-all"],
        ),
        ("scheduler", "./a.py:A,./b.py:B:x=1,y=2", ["./a.py:A", "./b.py:B:x=1,y=2"]),
        ("seed", "0-2,7", [0, 1, 2, 7]),
        ("load", "4-6", [4.0, 5.0, 6.0]),
        ("round_s", "60,300.5", [60.0, 300.5]),
    ],
)
def test_lists_on_the_command_line(name, text, values):
    assert values_of(name, [text]) == values


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        ("philly", "philly:load=4"),
        ("philly:load=8", "philly:load=4"),
        ("gavel:multi=true,load=8", "gavel:load=4,multi=true"),
        ("./mine.py:Mine:load=2,x=1", "./mine.py:Mine:load=4,x=1"),
    ],
)
def test_another_load(workload, expected):
    assert with_load(workload, 4.0) == expected


@pytest.mark.parametrize("workload", ["trace.csv", "philly:./log.json", "blox:jobs.csv?jobs=4"])
def test_a_trace_has_no_load(workload):
    with pytest.raises(BloxError, match="cannot be changed"):
        with_load(workload, 4.0)


def test_names_depend_on_the_settings_alone():
    first, second = Experiment(scheduler="las"), Experiment(scheduler="las", round_s=60.0)
    assert run_name(first) == run_name(Experiment(scheduler="las"))
    assert run_name(first) != run_name(second)
    assert run_name(first).startswith("las-philly-load=24-jobs=2000-s0-")


def test_a_folder_goes_by_its_label_in_any_script():
    assert [slug(label) for label in ("é ü", "Ф💥", "a/b: c", "..", "💥")] == [
        "é-ü",
        "Ф",
        "a-b-c",
        "run",
        "run",
    ]
    long = [slug("Ф" * 198 + end) for end in "ab"]
    assert len(set(long)) == 2 and all(len(name.encode()) < 240 for name in long)
    assert slug("a" * 200) == "a" * 200


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """The folder `one` with what SWEEP gives in one process, which tests only read, and what was printed."""
    out = tmp_path_factory.mktemp("swept") / "one"
    words = map(str, ("blox", "sweep", *SWEEP, "--out", out, "--processes", 1))
    return out, shell(shlex.join(words), out.parent)


def files_of(directory):
    same = ("sweep.csv", "sweep.toml", "jobs.csv", "summary.json", "experiment.toml", "rounds.parquet")
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.name in same
    }


def test_the_same_bytes_with_one_process_and_with_two(command, swept):
    place, one = swept
    two = command("sweep", *SWEEP, "--out", place.parent / "two", "--processes", 2)
    assert (one.returncode, two.code, one.stderr, two.err) == (0, 0, "", "")
    assert files_of(place) == files_of(place.parent / "two")
    assert one.stdout.replace("/one/", "/two/") == two.out


def test_a_row_per_run_with_the_settings_that_vary_and_all_figures(swept):
    place, _ = swept
    rows = list(csv.DictReader((place / "sweep.csv").open()))
    assert [(r["load"], r["scheduler"], r["seed"]) for r in rows[:3]] == [
        ("6", "fifo", "0"), ("6", "fifo", "1"), ("6", "las", "0"),
    ]  # fmt: skip
    assert len(rows) == 8
    assert {"avg_jct_s", "p99_jct_s", "wait_priority_s", "preemptions"} <= set(rows[0])
    assert all((place / "runs" / row["run"] / "jobs.csv").is_file() for row in rows)
    page = (place / "report.html").read_text()
    assert "avg_jct_s" in page and "lines are not distinguishable" in page, "two seeds show little"


def test_what_was_finished_is_not_run_again(command, tmp_path, monkeypatch, swept):
    shutil.copytree(swept[0], tmp_path / "s")
    before = files_of(tmp_path / "s")
    lost = sorted((tmp_path / "s" / "runs").iterdir())[3]
    (lost / "summary.json").unlink()
    ran = []
    run = Experiment.run
    monkeypatch.setattr(
        Experiment, "run", lambda self, *words: ran.append(run_name(self)) or run(self, *words)
    )
    words = ["--out", tmp_path / "s", "--processes", 1, "--no-report"]
    answer = command("sweep", tmp_path / "s" / "sweep.toml", *words)
    assert answer.code == 0
    assert answer.err == "7 of 8 runs were finished before\n"
    assert ran == [lost.name]
    assert files_of(tmp_path / "s") == before


def test_more_seeds_later_keep_the_earlier_runs(command, tmp_path):
    words = ["--scheduler", "fifo,las", "--out", tmp_path / "s", "--no-report", "--processes", 1]
    command("sweep", *SMALL, *words)
    answer = command("sweep", *SMALL, *words, "--seed", "0-1")
    assert answer.err == "2 of 4 runs were finished before\n"


@pytest.mark.parametrize("changed", ["trace", "policy", "version"])
def test_a_changed_input_is_run_again(tmp_path, changed):
    trace, policy = tmp_path / "t.csv", tmp_path / "mine.py"
    trace.write_text("job_id,submit_s,gpus,duration_s\na,0,1,100\n")
    policy.write_text(
        "from blox import Schedule\n\n\nclass Mine:\n    def schedule(self, job_state, cluster_state):\n"
        "        return Schedule.ordered(job_state)\n"
    )
    experiment = Experiment(workload=str(trace), cluster="1x1", scheduler=f"{policy}:Mine")
    experiment.run().save(tmp_path / "x")
    assert is_finished(tmp_path / "x", experiment)
    if changed == "trace":
        trace.write_text(trace.read_text() + "b,5,1,10\n")
    elif changed == "policy":
        policy.write_text(policy.read_text() + "# better\n")
    else:
        kept = tmp_path / "x" / "experiment.toml"
        kept.write_text(kept.read_text().replace('blox_version = "', 'blox_version = "9.'))
    assert not is_finished(tmp_path / "x", experiment)


def test_ctrl_c_keeps_what_was_finished_and_says_how_to_go_on(tmp_path):
    policy = tmp_path / "slow.py"
    policy.write_text(
        "import time\nfrom dataclasses import dataclass\nfrom pathlib import Path\n"
        "from blox import Schedule\n\n\n"
        "@dataclass(frozen=True)\nclass Slow:\n    pause_s: float = 0.0\n\n"
        "    def schedule(self, job_state, cluster_state):\n"
        "        Path(f'began-{self.pause_s}').touch()\n"
        "        time.sleep(self.pause_s)\n        return Schedule.ordered(job_state)\n"
    )
    words = [
        sys.executable,
        "-m",
        "blox.cli.main",
        "sweep",
        *map(str, SMALL),
        "--processes",
        "2",
        "--out",
        "s",
    ]
    words += ["--scheduler", "fifo,las,./slow.py:Slow:pause_s=250,./slow.py:Slow:pause_s=260"]
    with subprocess.Popen(
        words, cwd=tmp_path, text=True, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        assert eventually(lambda: len(list(tmp_path.glob("began-*"))) == 2)  # the others have been saved
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to parent and workers alike
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert err.splitlines() == [
        "interrupted: 2 of 4 runs are finished and kept",
        "  to go on: blox sweep s/sweep.toml --out s",
    ]
    kept = sorted(path.name for path in (tmp_path / "s" / "runs").iterdir())
    assert [name.partition("-")[0] for name in kept] == ["fifo", "las"]
    resumed = subprocess.run(
        [*words[:3], "sweep", "s/sweep.toml", "--out", "s", "--scheduler", "fifo,las", "--no-report"],
        cwd=tmp_path, text=True, capture_output=True,
    )  # fmt: skip
    assert (resumed.returncode, resumed.stderr) == (0, "2 of 2 runs were finished before\n")


def test_a_run_that_fails_stops_nothing_else(tmp_path, command):
    policy = tmp_path / "bad.py"
    policy.write_text("class Bad:\n    def schedule(self, job_state, cluster_state):\n        return 1 / 0\n")
    words = [*SMALL, "--scheduler", f"{policy}:Bad,las", "--seed", "0,1", "--out", tmp_path / "s"]
    answer = command("sweep", *words, "--processes", 2)
    assert answer.code == 2
    assert "2 of 4 runs failed" in answer.err and "bad.py:3" in answer.err and "Traceback" not in answer.err
    assert len((tmp_path / "s" / "sweep.csv").read_text().splitlines()) == 3


def test_all_specs_are_checked_before_the_first_run(command, tmp_path, monkeypatch):
    monkeypatch.setattr("blox.experiment.prepared.Prepared.run", lambda *_: pytest.fail("it ran"))
    answer = command("sweep", *SMALL, "--cluster", "4by4", "--out", tmp_path / "s", "--processes", 1)
    assert answer.code == 2
    assert "'4by4' does not describe nodes" in answer.err
    assert not (tmp_path / "s").exists()


def test_outcomes_come_in_the_order_given():
    tasks = [Task(Experiment(workload="constant", jobs=n)) for n in (40, 1, 20, 3)]
    outcomes = run_tasks(tasks, 2)
    assert [outcome.result.summary["jobs"] for outcome in outcomes if outcome.result] == [40, 1, 20, 3]


def test_a_swept_load_in_place_of_the_workloads_own_is_told(command, tmp_path):
    words = ["--workload", "gavel:multi=true,load=8", "--cluster", "4x4", "--jobs", 3, "--load", "8,9"]
    answer = command("sweep", *words, "--out", tmp_path / "s", "--no-report", "--processes", 1)
    assert (answer.code, answer.err) == (0, "note: --load replaces the load=8 of gavel:multi=true,load=8\n")


@pytest.mark.parametrize("workload", ["philly", "gavel:overload=3", "trace.csv"])
def test_a_workload_without_a_load_of_its_own(workload):
    assert own_load(workload) is None


def test_settings_under_another_table_are_told():
    with pytest.raises(BloxError, match=r"top level or under \[sweep\], not under \[experiment\]"):
        Grid.from_table({"experiment": {"jobs": 3}}, where="x.toml")


def test_a_synthesizer_stands_beside_what_it_chooses_and_across_what_it_does_not():
    axes = {"scheduler": ["fifo", "las"], "placement": ["first-free", "consolidated"]}
    auto = "scheduler=fifo,srtf"
    found = Grid(Experiment(auto=auto), axes).experiments()
    told = [(each.auto, each.scheduler, each.placement) for each in found]
    assert told == [
        ("", "fifo", "first-free"), ("", "fifo", "consolidated"),
        ("", "las", "first-free"), ("", "las", "consolidated"),
        (auto, "fifo", "first-free"), (auto, "fifo", "consolidated"),
    ]  # fmt: skip
    assert [setting_of(each, "scheduler") for each in found[3:5]] == ["las", ""]
    alone = Grid(Experiment(auto=auto), {"load": [4.0, 8.0]}).experiments()
    assert [each.auto for each in alone] == [auto, auto], (
        "without a list of policies nothing stands beside it"
    )
    beside = Grid(Experiment(auto=auto, scheduler="las")).experiments()
    assert [(each.auto, each.scheduler) for each in beside] == [("", "las"), (auto, "fifo")]
    listed = Grid(Experiment(), {"auto": ["", auto, "scheduler=las,srtf"]}).experiments()
    assert [each.auto for each in listed] == ["", auto, "scheduler=las,srtf"]
