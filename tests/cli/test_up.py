"""`blox up`, with a cluster that is only said to have started."""

import errno
import json

import pytest

from blox.cluster.protocol.queries import PoliciesView

BEFORE = PoliciesView("accept-all", "srtf", "first-free", 0.0, 10.0, "")


class Started:
    """A cluster that was up before, with SRTF."""

    def __init__(self):
        self.asked = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def policies(self):
        return BEFORE

    def set_policies(self, **specs):
        self.asked.update(specs)


@pytest.fixture
def started(monkeypatch):
    made = Started()
    monkeypatch.setattr("blox.cluster.shell.local.start", lambda *_, **options: made)
    return made


def test_policies_of_an_earlier_start_rule_until_others_are_named(command, started, tmp_path):
    answer = command("up", "--nodes", 2, "--gpus", 1, "--cluster", tmp_path)
    assert answer.out.startswith("up: 2 nodes x 1 GPU slots, srtf, in ") and started.asked == {}
    answer = command("up", "--gpus", 1, "--scheduler", "las", "--json", "--cluster", tmp_path)
    assert json.loads(answer.out)["scheduler"] == "las" and started.asked == {"scheduler": "las"}


def test_a_policy_that_rules_already_is_not_set_again(command, started, tmp_path):
    answer = command("up", "--gpus", 1, "--scheduler", "srtf", "--cluster", tmp_path)
    assert answer.code == 0 and started.asked == {}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--scheduler", "lass"], "did you mean 'las'"),
        (["--termination", "lost"], "did you mean 'loss'"),
        (["--renewal", "centrl"], "did you mean 'central'"),
    ],
)
def test_what_does_not_exist_is_refused_before_anything_starts(command, monkeypatch, words, told, tmp_path):
    monkeypatch.setattr("blox.cluster.shell.local.start", lambda *_, **options: pytest.fail("started"))
    answer = command("up", *words, "--cluster", tmp_path)
    assert answer.code == 2 and told in answer.err


def test_the_page_is_served_beside_the_cluster(command, started, monkeypatch, tmp_path):
    done = []
    monkeypatch.setattr("blox.cli.ui.ui", lambda results, *rest: done.append((results, rest[-1])))
    answer = command("up", "--nodes", 1, "--gpus", 1, "--ui", "--cluster", tmp_path)
    assert answer.code == 0 and done == [(None, str(tmp_path))]


def test_a_full_disk_is_told_by_the_file_and_not_as_a_full_output(command, monkeypatch, tmp_path):
    def full(path, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    answer = command("up", "--gpus", 1, "--cluster", tmp_path / "c")
    told = f"error: {tmp_path / 'c' / 'token'}: No space left on device\n  fix: make room on the disk\n"
    assert (answer.out.strip(), answer.err) == ("", told) and answer.code != 0
    assert list((tmp_path / "c").iterdir()) == []
