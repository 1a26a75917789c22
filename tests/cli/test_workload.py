"""`blox workload` as a user meets it."""

import pytest
from typer.testing import CliRunner

from blox import Experiment
from blox.cli.workload import app
from blox.errors import BloxError
from blox.workloads.spec import workload_from_spec


def run(*words):
    return CliRunner().invoke(app, [str(w) for w in words], env={"COLUMNS": "120"})


def error_of(result) -> str:
    assert isinstance(result.exception, BloxError), result.output
    return result.exception.text()


def test_describe_a_trace(samples):
    result = run("describe", samples / "ours.csv", "--cluster", "2x4")
    assert result.exit_code == 0, result.output
    for words in ("jobs", "60.5 s from first to last", "offered load", "of 8 GPUs", "vision 2, speech 1"):
        assert words in result.output
    assert "resnet50 2, lstm 1" in result.output


def test_describe_prints_what_was_assumed(samples):
    result = run("describe", f"openb:{samples / 'openb.csv'}", "--cluster", 4)
    assert "note: left out 1 job: num_gpu is 0, a CPU pod" in result.output
    assert "1 jobs ask for more than 4 GPUs" in result.output


def test_describe_a_generator():
    result = run("describe", "constant", "--jobs", 50)
    assert result.exit_code == 0, result.output
    assert "50" in result.output and "6 jobs/hour" in result.output


def test_describe_jobs_that_come_at_once(tmp_path):
    file = tmp_path / "one.csv"
    file.write_text("job_id,submit_s,gpus,duration_s\na,5,1,5\n")
    result = run("describe", file, "--cluster", 1)
    assert result.exit_code == 0 and "all at once" in result.output
    assert "1.0 GPUs busy on average until the last job would end" in result.output
    assert "1.000 of 1 GPUs" in result.output


def test_the_demand_of_jobs_that_are_longer_than_the_time_in_which_they_come(tmp_path):
    file = tmp_path / "two.csv"
    file.write_text("job_id,submit_s,gpus,duration_s\na,0,1,100\nb,3,4,100\n")
    assert "4.9 GPUs busy on average until the last job would end" in run("describe", file).output
    file.write_text("job_id,submit_s,gpus,duration_s\na,0,1,100\nb,100,4,100\n")
    assert "5.0 GPUs busy on average, if nothing waited" in run("describe", file).output


@pytest.mark.parametrize("words", [("describe",), ("validate",), ("convert", "out.csv"), ("run",)])
def test_a_trace_without_jobs_is_refused_by_every_command(command, install, tmp_path, words):
    install(
        """
        from dataclasses import dataclass
        from blox.workloads.table import JobTable


        @dataclass(frozen=True)
        class Reader:
            path: str = ""

            def read(self):
                return JobTable.build(dict(job_id=[], submit_s=[], gpus=[], duration_s=[]), source=self.path)
        """,
        reader="Reader",
    )
    (tmp_path / "trace.txt").touch()
    spec, (name, *out) = "theirs:trace.txt", words
    answer = command(name, "--workload", spec) if name == "run" else command("workload", name, spec, *out)
    assert answer.code == 2 and "trace.txt: the trace has no jobs" in answer.err
    assert not (tmp_path / "out.csv").exists()


def test_convert_and_read_back(samples, tmp_path):
    out = tmp_path / "out.csv"
    result = run("convert", f"blox:{samples / 'blox.csv'}", out)
    assert result.exit_code == 0 and f"wrote 2 jobs to {out} (csv)" in result.output
    assert workload_from_spec(str(out)).table.column("iterations").tolist() == [
        35424.34719808791,
        578.832840173429,
    ]
    result = run("convert", out, tmp_path / "t.csv", "--to", "tiresias")
    assert "note: duration_s of 2 jobs rounded to whole seconds" in result.output
    assert workload_from_spec(f"tiresias:{tmp_path / 't.csv'}").table.column("gpus").tolist() == [1, 4]


def test_generate_is_the_same_for_a_seed(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run("generate", "philly:load=4", tmp_path / name, "--jobs", 20, "--seed", seed).exit_code == 0
    first, same, other = ((tmp_path / name).read_text() for name in "abc")
    assert first == same != other
    assert len(workload_from_spec(f"csv:{tmp_path / 'a'}").table) == 20


def test_generate_gives_the_jobs_of_a_run_where_neither_names_a_seed(tmp_path):
    assert run("generate", "philly:load=4", tmp_path / "a", "--jobs", 20).exit_code == 0
    drawn = workload_from_spec(f"csv:{tmp_path / 'a'}").table
    ran = Experiment(workload="philly:load=4", jobs=20).run().jobs
    assert drawn.column("submit_s").tolist() == pytest.approx(ran["submit_s"].tolist(), abs=1e-3)


@pytest.mark.parametrize(
    "spec, jobs", [("philly:jobs=10", 10), ("constant:jobs=1200", 1200), ("philly", 1000)]
)
def test_generate_draws_the_jobs_that_the_generator_says(tmp_path, spec, jobs):
    result = run("generate", spec, tmp_path / "g.csv")
    assert result.exit_code == 0 and f"wrote {jobs:,} jobs" in result.output


def test_generate_wants_a_generator_with_enough_jobs(samples, tmp_path):
    assert "this is a trace" in error_of(run("generate", samples / "ours.csv", tmp_path / "o.csv"))
    words = error_of(run("generate", "constant:jobs=5", tmp_path / "o.csv", "--jobs", 9))
    assert "ends after 5 jobs" in words
    assert not (tmp_path / "o.csv").exists()


def test_validate_a_good_trace(samples):
    result = run("validate", samples / "ours.csv")
    assert result.exit_code == 0
    assert "gpus must be a whole number, 1 or more" in result.output
    assert "needs the columns job_id, submit_s, gpus, duration_s" in result.output
    assert "valid, 3 jobs" in result.output


def test_validate_lists_every_problem(tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("job_id,submit_s,gpus,duration_s\na,0,1,x\nb,-1,0,5\nc,1,1,1\n")
    result = run("validate", file)
    assert result.exit_code == 2
    for words in (":2: duration_s is 'x'", ":3: gpus is 0", ":3: submit_s is -1", "fix: write a number"):
        assert words in result.output
    assert "3 problems in 2 lines; 1 job without one" in result.output
    assert "and 2 more: --limit 3 lists them all" in run("validate", file, "--limit", 1).output


def test_validate_when_nothing_is_good(tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("job_id,submit_s,gpus,duration_s\na,0,1,x\n")
    result = run("validate", file)
    assert result.exit_code == 2 and "1 problem in 1 line; 0 jobs without one" in result.output


def test_validate_a_generator():
    assert "constant: valid, 30 jobs" in run("validate", "constant", "--jobs", 30).output


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("describe", "phily"), "did you mean 'philly'"),
        (("describe", "nowhere.csv"), "nowhere.csv: no such file"),
        (("validate", "nowhere.csv"), "nowhere.csv: no such file"),
        (("describe", "constant", "--cluster", "0"), "a cluster of 0 GPUs"),
        (
            ("convert", "constant", "out.csv", "--to", "nothing", "--jobs", "3"),
            "no trace can be written as 'nothing'",
        ),
        (("convert", "constant", "nowhere/out.csv", "--jobs", "3"), "nowhere: no such folder"),
        (("convert", "constant", "out.xlsx", "--jobs", "3"), "no trace can be written as '.xlsx'"),
        (("generate", "constant", "out.json.gz"), "no trace can be written as '.json'"),
    ],
)
def test_mistakes(words, error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert error in error_of(run(*words))
    assert list(tmp_path.iterdir()) == [], "nothing is written"


def test_describe_tells_of_elastic_jobs(samples, command):
    said = command("workload", "describe", f"pollux:{samples / 'pollux' / 'workloads' / 'workload.csv'}").out
    assert "3 jobs can be resized, from 1 to 2 GPUs; batch sizes from 8 to 16" in " ".join(
        said.replace("│", " ").split()
    )
    assert "resized" not in command("workload", "describe", "gavel", "--jobs", 5).out


def test_validate_refuses_the_batch_sizes_that_a_run_refuses(tmp_path):
    file = tmp_path / "elastic.csv"
    head = "job_id,submit_s,gpus,duration_s,model,min_gpus,max_gpus,batch_size,max_batch_size\n"
    jobs = ["a,0,1,60,cifar10,1,4,512,", "b,0,1,60,cifar10,1,4,64,", "c,0,1,60,cifar10,1,4,,99"]
    file.write_text(head + "\n".join(jobs) + "\n")
    result = run("validate", file)
    assert result.exit_code == 2 and "2 problems in 2 lines; 1 job without one" in result.output
    assert f"{file}:3: job 'b': batch_size is 64, and cifar10 trains with 128 to 4096" in result.output
    assert f"{file}:4: job 'c': max_batch_size is 99" in result.output
    with pytest.raises(BloxError, match="batch_size is 64, and cifar10 trains with 128 to 4096"):
        Experiment(workload=str(file), cluster="1x4").prepare()
    file.write_text(head + "b,0,1,60,cifar10,1,1,64,\n")  # rigid: no speeds by batch size
    assert run("validate", file).exit_code == 0 and Experiment(workload=str(file)).prepare()
