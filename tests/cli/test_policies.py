"""`blox policies` and `blox compat`: the catalogue, generated from the classes."""

import json
import sys

import pytest

from blox import registry
from blox.catalogue import KINDS
from blox.registry import known_parts


def test_every_part_of_every_kind_is_listed_with_its_first_line(command):
    answer = command("policies")
    assert (answer.code, answer.err) == (0, "")
    flat = " ".join(answer.out.split())
    for kind in KINDS:
        for name, cls in registry.classes(kind).items():
            assert name in answer.out
            assert (cls.__doc__ or "").splitlines()[0][:40] in flat, name


def test_parameters_and_defaults_come_from_the_fields(command):
    answer = command("policies", "admission")
    assert "factor=1.2 (number)" in answer.out
    assert "las" not in answer.out


@pytest.mark.parametrize("word", ["scheduling", "scheduler", "schedulers"])
def test_kinds_have_the_names_that_one_tries(command, word):
    assert "Jobs run in the order of their submission" in command("policies", word).out


def test_json_for_programs(command):
    table = json.loads(command("policies", "--json").out)
    assert set(table) == set(KINDS)
    las = next(entry for entry in table["scheduling"] if entry["name"] == "las")
    assert {parameter["name"] for parameter in las["parameters"]} == set(
        registry.parameters(registry.find("scheduling", "las"))
    )


def test_a_name_shows_that_part_with_its_docstring_and_parameters(command):
    answer = command("policies", "consolidated")
    assert (answer.code, answer.err) == (0, "")
    flat = " ".join(answer.out.split())
    cls = registry.find("placement", "consolidated")
    assert " ".join(cls.__doc__.split()) in flat
    assert "--placement" in flat and "fallback=" in flat
    assert "first-free" not in answer.out.split()


def test_a_name_of_several_kinds_shows_all_of_them(command):
    table = json.loads(command("policies", "tiresias", "--json").out)
    assert {"scheduling", "placement", "compat", "reader"} <= set(table)
    assert {entry["name"] for entries in table.values() for entry in entries} == {"tiresias"}


def test_a_misspelt_name_is_answered(command):
    answer = command("policies", "consolidatd")
    assert answer.code == 2
    assert "no kind of part and no part is called 'consolidatd'" in answer.err
    assert "did you mean 'consolidated'?" in answer.err


def test_an_installed_policy_is_shown_by_its_name(command, installed):
    answer = command("policies", "theirs")
    assert answer.code == 0 and "taste=0.5 (number)" in answer.out
    assert "other" not in sys.modules


def test_an_unknown_kind_is_answered(command):
    answer = command("policies", "plaecment")
    assert answer.code == 2
    assert "did you mean 'placement'?" in answer.err


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package of somebody else's that provides two schedulers, one of which cannot be imported."""
    (tmp_path / "theirs.py").write_text(
        "from dataclasses import dataclass\nfrom blox import Schedule\n\n\n"
        '@dataclass(frozen=True)\nclass Theirs:\n    """Jobs as somebody else likes them."""\n\n'
        "    taste: float = 0.5\n\n    def schedule(self, job_state, cluster_state):\n"
        "        return Schedule.ordered(job_state)\n"
    )
    (tmp_path / "other.py").write_text("raise RuntimeError('must not be imported')\n")
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[blox.scheduling]\ntheirs = theirs:Theirs\nother = other:Other\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield info / "entry_points.txt"
    known_parts._classes["scheduling"].pop("theirs", None)
    for name in ("theirs", "other"):
        sys.modules.pop(name, None)


def test_an_installed_policy_is_found_by_name_and_nothing_else_is_imported(command, installed):
    assert command("run", "--jobs", 5, "--scheduler", "las").code == 0
    assert "theirs" not in sys.modules
    answer = command("run", "--jobs", 5, "--scheduler", "theirs:taste=0.7")
    assert answer.code == 0, answer.err
    assert "other" not in sys.modules


def test_an_installed_policy_is_listed(command, installed):
    installed.write_text("[blox.scheduling]\ntheirs = theirs:Theirs\n")
    answer = command("policies", "scheduling")
    assert "Jobs as somebody else likes them." in answer.out
    assert "taste=0.5 (number)" in answer.out


def test_an_installed_policy_that_cannot_be_imported_is_told(command, installed):
    answer = command("run", "--scheduler", "other")
    assert answer.code == 2
    assert "'other' cannot be loaded: RuntimeError: must not be imported" in answer.err


def test_a_policy_is_checked_without_loading_others(command, installed, recwarn):
    assert command("check", "fifo").code == 0
    assert command("check", "theirs").code == 0
    assert "other" not in sys.modules
    answer = command("check", "thiers")
    assert (answer.code, "other" in sys.modules) == (2, False)
    assert "did you mean 'theirs'?" in answer.err
    assert not recwarn


def test_broken_packages_are_noted_in_a_line_each(command, installed, recwarn):
    installed.write_text(
        "[blox.scheduling]\ntheirs = theirs:Theirs\nother = other:Other\ngone = gone:Gone\n"
        "[blox.compat]\nold = old:Old\n"
    )
    answer = command("policies", "scheduling")
    assert answer.code == 0
    assert "Jobs as somebody else likes them." in answer.out
    assert answer.err.splitlines() == [
        "note: entry point gone:Gone: the installed part 'gone' cannot be loaded: "
        "ModuleNotFoundError: No module named 'gone'",
        "note: entry point other:Other: the installed part 'other' cannot be loaded: "
        "RuntimeError: must not be imported",
    ]
    assert len(command("policies", "--json").err.splitlines()) == 3
    assert len(command("compat").err.splitlines()) == 1
    assert not recwarn


def test_a_name_of_two_kinds_is_suggested_once(command):
    answer = command("check", "lass")
    assert answer.code == 2
    assert answer.err.count("tiresias") == 1


def test_presets_say_what_they_change(command):
    answer = command("compat")
    assert answer.code == 0
    flat = " ".join(answer.out.split())
    for cls in registry.classes("compat").values():
        for key, words in cls.changes.items():
            assert key in flat and words[:30] in flat
    assert "simulation options" in flat and "whole_round_credit" in flat


def test_one_preset(command):
    answer = command("compat", "blox")
    assert "policy=Fifo (Fifo|Las|Srtf|Tiresias|Optimus)" in answer.out
    assert "simulation options" not in answer.out
    assert "did you mean 'blox'?" in command("compat", "bloxx").err
