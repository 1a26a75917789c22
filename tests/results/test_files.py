"""Results directories: replaced whole, or left as they were."""

import os

import pytest

from blox.results.files import FILES
from blox.results.result import Result


def test_earlier_results_and_their_report_are_replaced(runs, tmp_path):
    runs[0].save(tmp_path / "x")
    (tmp_path / "x" / "report.html").write_text("of the first run")
    runs[1].save(tmp_path / "x")
    assert sorted(os.listdir(tmp_path / "x")) == sorted(FILES)
    assert Result.load(tmp_path / "x").summary["jobs"] == 6
    assert os.listdir(tmp_path) == ["x"]


def test_results_go_where_a_link_leads(runs, tmp_path):
    runs[0].save(tmp_path / "there")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    runs[1].save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert Result.load(tmp_path / "there").summary["jobs"] == 6


@pytest.mark.parametrize("failing", [1, 2])
def test_old_results_stay_where_new_ones_cannot_be_put(runs, tmp_path, monkeypatch, failing):
    runs[0].save(tmp_path / "x")
    done, moves = os.replace, []

    def replace(source, target):
        moves.append(source)
        if len(moves) == failing:
            raise OSError("busy")
        done(source, target)

    monkeypatch.setattr("os.replace", replace)
    with pytest.raises(OSError, match="busy"):
        runs[1].save(tmp_path / "x")
    assert os.listdir(tmp_path) == ["x"]
    assert Result.load(tmp_path / "x").summary["jobs"] == 4
