"""`--seeds N` on run, compare and sweep, as a user types it."""

import csv
import json
import shutil
import tomllib

import pytest

from blox import Experiment
from blox.results.result import Result

SMALL = ["--workload", "gavel:multi=true,load=12", "--cluster", "4x4", "--jobs", 40]


def flowing(text):
    """Sentences without the breaks of their lines."""
    return " ".join(text.split())


def files_of(directory):
    same = (
        "jobs.csv",
        "summary.json",
        "experiment.toml",
        "intervals.json",
        "compare.csv",
        "means.csv",
        "sweep.csv",
    )
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.name in same
    }


def test_a_run_over_seeds_has_means_with_intervals_and_a_folder_each(command, tmp_path):
    words = ["--scheduler", "las", "--seed", 2, "--seeds", 3, "--out", tmp_path / "r", "--processes", 1]
    answer = command("run", *SMALL, *words)
    assert (answer.code, answer.err) == (0, "")
    assert "Over 40 jobs in each run. Means of 3 seeds; ± is the 95 % interval." in answer.out
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == [
        "experiment.toml", "intervals.json", "seed-2", "seed-3", "seed-4"
    ]  # fmt: skip
    command("run", *SMALL, "--scheduler", "las", "--seed", 3, "--out", tmp_path / "alone")
    for name in ("jobs.csv", "summary.json", "experiment.toml"):
        assert (tmp_path / "r" / "seed-3" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()


def test_the_same_bytes_with_one_process_and_with_two(command, tmp_path):
    for processes in (1, 2):
        words = ["--seeds", 2, "--processes", processes, "--out", tmp_path / str(processes), "--no-report"]
        assert command("compare", *SMALL, "--scheduler", "fifo,las", *words).code == 0
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2")


@pytest.mark.parametrize("gone", [[], ["seed-0"]])
def test_a_comparison_goes_on_though_its_seeds_were_not_summed_up(command, tmp_path, gone):
    """As an interruption leaves it: some seeds are finished, and nothing stands beside them."""
    words = [*SMALL, "--scheduler", "fifo,las", "--seeds", 2, "--processes", 1, "--no-report"]
    assert command("compare", *words, "--out", tmp_path / "c").code == 0
    before = files_of(tmp_path / "c")
    for name in ("intervals.json", "experiment.toml", *gone):
        path = tmp_path / "c" / "fifo" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    answer = command("compare", *words, "--out", tmp_path / "c")
    assert (answer.code, answer.err) == (0, f"{4 - ('seed-0' in gone)} of 4 runs were finished before\n")
    assert files_of(tmp_path / "c") == before


def test_a_comparison_goes_on_where_one_seed_was_left(command, tmp_path):
    (tmp_path / "flaky.py").write_text(FLAKY.format(seeds=(1,)))
    words = [*SMALL, "--scheduler", f"{tmp_path / 'flaky.py'}:Flaky", "--seeds", 2, "--processes", 1]
    command("compare", *words, "--out", tmp_path / "c", "--no-report")
    answer = command("compare", *words, "--out", tmp_path / "c", "--no-report")
    assert "1 of 2 runs were finished before" in answer.err and "which is not from" not in answer.err


def test_what_is_no_folder_of_seeds_is_still_refused(command, tmp_path):
    (tmp_path / "c" / "mine" / "seed-0").mkdir(parents=True)
    answer = command("compare", *SMALL, "--scheduler", "fifo", "--out", tmp_path / "c")
    assert answer.code == 2 and "the directory holds 'mine'" in answer.err


FLAKY = """from blox.schedulers.las import Las

class Flaky(Las):
    def schedule(self, job_state, cluster_state):
        if job_state.seed in {seeds}:
            raise ValueError("not with this seed")
        return super().schedule(job_state, cluster_state)
"""


@pytest.mark.parametrize(("seeds", "left"), [((1, 2), 2), ((1, 2, 3), 1)])
@pytest.mark.parametrize("verb", ["compare", "sweep"])
def test_a_row_whose_seeds_failed_says_so_and_is_not_ranked(command, tmp_path, verb, seeds, left):
    (tmp_path / "flaky.py").write_text(FLAKY.format(seeds=seeds))
    flaky = f"{tmp_path / 'flaky.py'}:Flaky"
    words = ["--scheduler", flaky, "--scheduler", "fifo,srtf", "--seeds", 4, "--processes", 1]
    answer = command(verb, *SMALL, *words, "--no-report", "--out", tmp_path / "c")
    told = flowing(answer.out)
    assert answer.code == 2 and f"{len(seeds)} of 12 runs failed" in answer.err
    assert f"Means of 4 seeds; ± is the 95 % interval. Flaky: {left} of 4 seeds, the others failed." in told
    assert "Only runs over the same seeds are compared." in told and "--seeds 5" not in told
    name = "compare.csv" if verb == "compare" else "means.csv"
    rows = list(csv.DictReader((tmp_path / "c" / name).open()))
    assert [row["seeds"] for row in rows] == [str(left), "4", "4"]
    assert rows[0]["avg_jct_s_vs_best"] == "" and sum(bool(row["avg_jct_s_vs_best"]) for row in rows) == 1


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["run", "--scheduler"], ["Flaky seed=1", "Flaky seed=2"]),
        (["compare", "--scheduler", "fifo", "--scheduler"], ["Flaky seed=1", "Flaky seed=2"]),
        (
            ["sweep", "--load", "4,8", "--scheduler", "fifo", "--scheduler"],
            [f"load={load} Flaky seed={seed}" for load in (4, 8) for seed in (1, 2)],
        ),
    ],
)
def test_runs_that_failed_are_named(command, tmp_path, words, names):
    (tmp_path / "flaky.py").write_text(FLAKY.format(seeds=(1, 2)))
    verb, *rest = words
    words = [*rest, f"{tmp_path / 'flaky.py'}:Flaky", "--seeds", 3, "--processes", 1, "--no-report"]
    answer = command(verb, *SMALL, *words, "--out", tmp_path / "c")
    told = [line.removeprefix("  run: ") for line in answer.err.splitlines() if line.startswith("  run: ")]
    assert told == names, answer.err


def test_one_seed_that_is_left_of_several_is_not_advised_to_take_several(command, tmp_path):
    (tmp_path / "flaky.py").write_text(FLAKY.format(seeds=(1, 2, 3)))
    words = ["--scheduler", f"{tmp_path / 'flaky.py'}:Flaky", "--seeds", 4, "--processes", 1]
    answer = command("compare", *SMALL, *words, "--no-report", "--out", tmp_path / "c")
    said = "does not show how far its figures vary. Flaky: 1 of 4 seeds, the others failed."
    assert said in flowing(answer.out)
    again = command("report", tmp_path / "c", "--out", tmp_path / "r.html")
    assert again.code == 0 and said in flowing(again.out), "as it is read back"


def test_its_experiment_toml_runs_them_again_and_goes_on_where_it_was(command, tmp_path, monkeypatch):
    command("run", *SMALL, "--seeds", 3, "--out", tmp_path / "r", "--processes", 1)
    before = files_of(tmp_path / "r")
    (tmp_path / "r" / "seed-1" / "jobs.csv").unlink()
    ran, run = [], Experiment.run
    monkeypatch.setattr(Experiment, "run", lambda self, *words: ran.append(self.seed) or run(self, *words))
    words = ["run", tmp_path / "r" / "experiment.toml", "--out", tmp_path / "r", "--processes", 1]
    answer = command(*words)
    assert (answer.code, answer.err) == (0, "2 of 3 runs were finished before\n")
    assert ran == [1]
    assert files_of(tmp_path / "r") == before


@pytest.mark.parametrize(
    ("text", "words", "seeds"),
    [
        ("seeds = 2", [], [0, 1]),
        ("seed = 5\nseeds = 2", [], [5, 6]),
        ("seed = [4, 9]", [], [4, 9]),
        ("seeds = 2", ["--seed", 7], [7, 8]),
        ("seed = 5\nseeds = 2", ["--seeds", 3], [5, 6, 7]),
        ("seed = [4, 9]", ["--seed", 7], [7]),
        ("seed = 5", ["--seeds", 1], [5]),
    ],
)
def test_seeds_in_a_file_and_on_the_command_line(command, tmp_path, text, words, seeds):
    settings = 'workload = "gavel"\ncluster = "2x4"\njobs = 5\n'
    (tmp_path / "e.toml").write_text(f"{settings}{text}\n")
    for name in ("run", "compare"):
        out = tmp_path / name
        only = ["--scheduler", "las", "--no-report"] if name == "compare" else []
        assert command(name, tmp_path / "e.toml", *words, *only, "--out", out, "--processes", 1).code == 0
        inside = out if name == "run" else out / "las"
        kept = [Result.load(each.parent).experiment["seed"] for each in sorted(inside.rglob("jobs.csv"))]
        assert kept == seeds


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "--seeds", 0], "--seeds"),
        (["run", "--seeds", 2, "--backend", "replay"], "several seeds in real time"),
        (["sweep", "--seed", "0-2", "--seeds", 2], "seed is a list already"),
        (["run", "--seeds", "few"], "--seeds"),
        (["run", "--seeds", 100_000_000], "--seeds: seeds is 100000000\n  fix: say how many, at most 1,000"),
        (["compare", "--seeds", 1001], "--seeds: seeds is 1001\n  fix: say how many, at most 1,000"),
        (["sweep", "--seeds", 100_000_000], "--seeds: seeds is 100000000"),
    ],
)
def test_wrong_seeds_are_answered(command, tmp_path, words, says):
    answer = command(*words, *SMALL, "--out", tmp_path / "r")
    assert answer.code == 2 and says in answer.err and not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    "text", ["seeds = 0", "seeds = 2.5", "seeds = true", "seeds = 100000000", 'seeds = "5"']
)
def test_wrong_seeds_in_a_file_are_answered(command, tmp_path, text):
    (tmp_path / "e.toml").write_text(f"{text}\n")
    for name in ("run", "compare"):
        answer = command(name, tmp_path / "e.toml")
        assert answer.code == 2 and "seeds is" in answer.err


def test_a_comparison_says_what_is_not_distinguishable(command, tmp_path):
    words = ["--scheduler", "fifo,srtf,las", "--seeds", 4, "--out", tmp_path / "c", "--processes", 2]
    answer = command(
        "compare", "--workload", "gavel:multi=true,load=40", "--cluster", "4x4", "--jobs", 60, *words
    )
    assert answer.code == 0
    assert "srtf (oracle)" in answer.out and "not distinguishable" in answer.out
    assert "Means of 4 seeds" in (tmp_path / "c" / "report.html").read_text()
    rows = {row["run"]: row for row in csv.DictReader((tmp_path / "c" / "compare.csv").open())}
    assert rows["srtf (oracle)"]["oracle"] == "yes" and rows["las"]["oracle"] == "no"
    assert {row["seeds"] for row in rows.values()} == {"4"} and {row["jobs"] for row in rows.values()} == {
        "60"
    }
    verdicts = {name: row["avg_jct_s_is_distinguishable"] for name, row in rows.items()}
    assert "no" in verdicts.values() and "" in verdicts.values()
    for row in rows.values():
        assert float(row["avg_jct_s_low"]) < float(row["avg_jct_s"]) < float(row["avg_jct_s_high"])
    kept = json.loads((tmp_path / "c" / "las" / "intervals.json").read_text())
    assert kept["figures"]["avg_jct_s"]["mean"] == float(rows["las"]["avg_jct_s"])


def test_one_seed_of_each_claims_nothing(command, tmp_path):
    words = [*SMALL, "--scheduler", "fifo,srtf", "--out", tmp_path / "c", "--processes", 1]
    answer = command("compare", *words)
    assert "--seeds 5 gives intervals" in flowing(answer.out)
    assert "Not tested" in (tmp_path / "c" / "report.html").read_text()


def test_a_report_of_a_folder_of_seeds_or_of_a_comparison(command, tmp_path):
    words = [
        "--scheduler",
        "fifo,las",
        "--seeds",
        2,
        "--out",
        tmp_path / "c",
        "--no-report",
        "--processes",
        1,
    ]
    command("compare", *SMALL, *words)
    for folder, rows in ((tmp_path / "c" / "las", 1), (tmp_path / "c", 2)):
        answer = command("report", folder, "--out", tmp_path / "r.html")
        assert answer.code == 0 and "Means of 2 seeds" in answer.out
        assert sum(line.startswith(("fifo", "las")) for line in answer.out.splitlines()) == rows
    answer = command("explain", tmp_path / "c" / "las")
    assert answer.code == 0 and "Seed 0, the first of 2" in answer.out
    answer = command("explain", tmp_path / "c")
    assert answer.code == 2 and "give one of them" in answer.err and "las" in answer.err


def trace(folder, jobs=60, every_s=3600):
    rows = "\n".join(f"{row},{row * every_s},{1 + row % 4},{3000 + 977 * row % 20000}" for row in range(jobs))
    (folder / "t.csv").write_text(f"job_id,submit_s,gpus,duration_s\n{rows}\n")
    return folder / "t.csv"


def test_seeds_of_a_trace_that_nothing_draws_by_are_run_once(command, tmp_path):
    words = ["--workload", trace(tmp_path), "--cluster", "2x4", "--seeds", 5, "--processes", 1]
    answer = command("compare", *words, "--scheduler", "fifo,las", "--out", tmp_path / "c", "--no-report")
    assert answer.code == 0
    assert (
        "8 of 10 runs would give what others give" in answer.err
        and "nothing is drawn by a seed" in answer.err
    )
    assert (tmp_path / "c" / "las" / "jobs.csv").is_file()
    assert command("run", *words, "--out", tmp_path / "r").code == 0
    assert (tmp_path / "r" / "jobs.csv").is_file()


def test_a_trace_is_compared_over_its_days(command, tmp_path):
    words = ["--workload", trace(tmp_path, 700), "--cluster", "1x4", "--scheduler", "fifo,srtf"]
    answer = command("compare", *words, "--processes", 1)
    assert answer.code == 0
    assert "by resampling the 30 days on which jobs were submitted" in flowing(answer.out)
    assert "95 % interval" in answer.out


def test_beliefs_are_compared_and_runs_that_cannot_differ_are_run_once(command, tmp_path):
    words = [*SMALL, "--scheduler", "fifo,srtf", "--belief", "oracle,noisy:sigma=2", "--processes", 1]
    answer = command("compare", *words, "--out", tmp_path / "c", "--no-report")
    assert answer.code == 0
    assert sorted(path.name for path in (tmp_path / "c").iterdir() if path.is_dir()) == [
        "fifo", "srtf-noisy-sigma=2", "srtf-oracle"
    ]  # fmt: skip
    assert "1 of 4 runs would give what others give" in answer.err and "beliefs" in answer.err
    assert tomllib.loads((tmp_path / "c" / "compare.toml").read_text())["sweep"]["belief"]


def test_a_folder_of_one_run_is_not_mixed_with_seeds(command, tmp_path):
    command("run", *SMALL, "--out", tmp_path / "r")
    answer = command("run", *SMALL, "--seeds", 2, "--out", tmp_path / "r")
    assert answer.code == 2 and "jobs.csv" in answer.err


def test_a_sweep_has_a_row_per_point_with_intervals_and_one_per_run(command, tmp_path):
    words = ["--load", "6,40", "--scheduler", "fifo,srtf", "--seeds", 3, "--processes", 2]
    answer = command("sweep", *SMALL, *words, "--out", tmp_path / "s")
    assert (answer.code, answer.err) == (0, "note: --load replaces the load=12 of gavel:multi=true,load=12\n")
    assert "Means of 3 seeds" in answer.out and answer.out.count("±") > 15
    named = [line for line in answer.out.splitlines() if "srtf" in line]
    assert len(named) >= 2 and all("srtf (oracle)" in line for line in named)
    means = list(csv.DictReader((tmp_path / "s" / "means.csv").open()))
    runs = list(csv.DictReader((tmp_path / "s" / "sweep.csv").open()))
    assert (len(means), len(runs)) == (4, 12)
    assert [(row["load"], row["scheduler"], row["oracle"], row["seeds"]) for row in means[:2]] == [
        ("6", "fifo", "no", "3"), ("6", "srtf", "yes", "3")
    ]  # fmt: skip
    first = [float(row["avg_jct_s"]) for row in runs if (row["load"], row["scheduler"]) == ("6", "fifo")]
    assert float(means[0]["avg_jct_s"]) == pytest.approx(sum(first) / 3)
    page = (tmp_path / "s" / "report.html").read_text()
    assert "Over 40 jobs in each run. Means of 3 seeds" in page and "srtf (oracle)" in page


def test_a_sweep_over_beliefs_shows_every_point_and_runs_once_what_cannot_differ(command, tmp_path):
    words = ["--scheduler", "fifo,srtf", "--belief", "oracle,noisy:sigma=2", "--seeds", 2, "--processes", 1]
    assert command("sweep", *SMALL, *words, "--out", tmp_path / "s", "--no-report").code == 0
    assert len(list((tmp_path / "s" / "runs").iterdir())) == 6
    assert len(list(csv.DictReader((tmp_path / "s" / "means.csv").open()))) == 4


def test_a_sweep_tells_the_best_at_each_point_and_how_far_it_is_from_the_baseline(command, tmp_path):
    words = ["--load", "2,12", "--seeds", 3, "--scheduler", "fifo,las,srtf", "--no-report"]
    workload = ["--workload", "gavel:multi=true,jobs=40", "--cluster", "4x4"]
    words += ["--baseline", "fifo", "--out", tmp_path / "s", "--processes", 1]
    answer = command("sweep", *workload, *words)
    heads, *table = answer.out[: answer.out.index("figures:")].split("\n\n")[-2].splitlines()
    assert "lowest" in heads and "not distinguishable" in heads and "against fifo" in heads
    assert "average JCT" in table[0] and "from it" in table[0] and "h (95 % interval)" in table[0]
    told = {line.split()[0]: line for line in table[2:4]}
    with (tmp_path / "s" / "means.csv").open() as file:
        rows = list(csv.DictReader(file))
    for load in ("2", "12"):
        here = {row["scheduler"]: row for row in rows if row["load"] == load}
        least = min(here, key=lambda name: float(here[name]["avg_jct_s"]))
        base, best = (float(here[name]["avg_jct_s"]) for name in ("fifo", least))
        assert f"{(best - base) / 3600:+.1f} (".replace("-", "\u2212") in told[load]
        others = [name for name, row in here.items() if row["avg_jct_s_is_distinguishable"] == "no"]
        assert all(name.split(" ")[0] in told[load] for name in (least, *others)), (told[load], others)


def test_fairness_has_its_intervals_too(command):
    answer = command(
        "compare", *SMALL, "--scheduler", "fifo,las", "--seeds", 3, "--processes", 1, "--no-report"
    )
    fairness = answer.out.partition("fairness")[2].partition("longest waits")[0]
    assert fairness.count("\N{PLUS-MINUS SIGN}") >= 4
