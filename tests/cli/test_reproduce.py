"""`blox reproduce` as its user meets it: the list, one figure on a tiny scale, bad input."""

import csv
import dataclasses
import json
from html import unescape

import pytest

from blox.reproduce import fig10
from blox.reproduce.answer import WORDS
from blox.reproduce.runner import FILES, MEASURED

ALWAYS = [name for name in FILES if name != MEASURED]  # of a page that simulations answer


@pytest.fixture
def tiny(monkeypatch):
    """Figure 10 with two loads, one seed and a window of a few jobs."""
    monkeypatch.setattr(fig10.Figure10, "_loads", lambda self, setting: [2.0, 6.0])
    monkeypatch.setattr(fig10.Figure10, "_window", lambda self, setting: "20-40")
    monkeypatch.setattr(fig10.Figure10, "_seeds", lambda self, setting: setting.seeds(1, 1))


def test_without_a_name_it_lists_what_there_is(command):
    answer = command("reproduce")
    assert answer.code == 0
    for name in ("fig4", "fig10", "fig11"):
        assert name in answer.out


def test_one_figure_is_asked_and_written_down(command, tiny, tmp_path):
    answer = command("reproduce", "fig10", "--out", str(tmp_path), "--processes", "1", "--seed", "2")
    assert answer.code == 0, answer.err
    for word in ("claim", "rule", "verdict", "results"):
        assert f"\n{word} " in answer.out
    assert "window 20-40, 1 seed" in " ".join(answer.out.split())
    folder = tmp_path / "fig10"
    assert {path.name for path in folder.iterdir()} == set(ALWAYS)
    assert {path.name for path in tmp_path.iterdir() if path.name[0] != "."} == {"fig10", "runs", "book.html"}
    finding = json.loads((folder / "finding.json").read_text())
    assert finding["finding"]["verdict"]["word"] in WORDS
    assert finding["finding"]["verdict"]["word"] in answer.out and finding["claim"] == fig10.PAGE.claim
    assert {x for line in finding["finding"]["charts"][0]["lines"] for x in line["x"]} == {2.0, 6.0}
    rows = list(csv.DictReader((folder / "numbers.csv").open()))
    assert len(rows) == 8 and {row["seed"] for row in rows} == {"2"}
    assert all(float(row["avg_jct_s"]) > 0 and (tmp_path / "runs" / row["run"]).is_dir() for row in rows)
    assert (folder / "figure.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (folder / "figure.svg").read_text()
    assert fig10.PAGE.rule in unescape((tmp_path / "book.html").read_text())


def test_what_has_finished_is_not_run_again_and_gives_the_same_bytes(command, tiny, tmp_path, monkeypatch):
    assert command("reproduce", "fig10", "--out", str(tmp_path), "--processes", "1").code == 0
    files = ["book.html", *(f"fig10/{name}" for name in ALWAYS)]
    before = {name: (tmp_path / name).read_bytes() for name in files}

    def never(*_):
        raise AssertionError("run again")

    monkeypatch.setattr("blox.experiment.prepared.Prepared.run", never)
    answer = command("reproduce", "fig10", "--out", str(tmp_path), "--processes", "1")
    assert answer.code == 0, answer.err
    assert {name: (tmp_path / name).read_bytes() for name in files} == before


def test_without_matplotlib_there_is_still_a_page(command, tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    answer = command("reproduce", "fig10", "--out", str(tmp_path), "--processes", "1")
    assert answer.code == 0, answer.err
    assert "matplotlib" in answer.out and "verdict" in answer.out
    assert (tmp_path / "book.html").exists()
    assert not (tmp_path / "fig10" / "figure.png").exists()


def test_jobs_that_never_finish_are_told(command, tiny, tmp_path, monkeypatch):
    cases = fig10.Figure10.cases
    cut = lambda self, setting: [  # noqa: E731
        dataclasses.replace(case, experiment=dataclasses.replace(case.experiment, max_rounds=150))
        for case in cases(self, setting)
    ]
    monkeypatch.setattr(fig10.Figure10, "cases", cut)
    answer = command("reproduce", "fig10", "--out", tmp_path, "--processes", "1")
    assert answer.code == 0, answer.err
    assert "did not finish are missing from the averages" in " ".join(answer.out.split())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["figure10"], "did you mean 'fig10'?"),
        (["fig10", "fig99"], "no page is called 'fig99'"),
        (["fig10", "--scale", "ful"], "did you mean 'full'?"),
        (["fig10", "--quick", "--scale", "full"], "give one of them"),
        (["fig10", "--seed", "-1"], "seed is -1"),
        (["fig4", "--trace", "none.csv"], "none.csv"),
        (["fig4", "--trace", "tiresias:none.csv"], "none.csv"),
    ],
)
def test_bad_input_is_answered_in_words(command, tmp_path, words, says):
    answer = command("reproduce", *words, "--out", str(tmp_path / "out"))
    assert answer.code == 2
    assert says in answer.err and "Traceback" not in answer.err
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_is_left_alone(command, tmp_path):
    (tmp_path / "fig10").mkdir()
    (tmp_path / "fig10" / "thesis.tex").write_text("mine")
    answer = command("reproduce", "fig10", "--out", str(tmp_path))
    assert answer.code == 2 and "thesis.tex" in answer.err
