"""Steps per second by job type, GPUs and GPU type: the project's own table, and Gavel's."""

import json

import numpy as np
import pytest

from blox.errors import BloxError
from blox.performance.throughputs import throughputs
from support.places import SHARED

GAVEL = SHARED / "data" / "gavel" / "simulation_throughputs.json"
RESNET, A3C = ("ResNet-18 (batch size 16)", 1), ("A3C", 1)


def test_the_projects_own_table():
    table = throughputs()
    assert table.gpu_types == ("k80", "p100", "v100")
    assert len(table.alone) == 83
    assert table.of([RESNET], ["v100"])[0, 0] == pytest.approx(32.353, abs=1e-3)
    assert (table.of([("ResNet-50 (batch size 128)", 2)]) == 0).tolist() == [[True, False, False]]
    both = table.shared([RESNET, A3C], ["k80"])
    assert 0 < both[0, 1, 0] < table.of([RESNET], ["k80"])[0, 0]
    assert 0 < both[1, 0, 0] < table.of([A3C], ["k80"])[0, 0]
    two_wide = ("ResNet-18 (batch size 16)", 2)
    assert not table.shared([two_wide, two_wide]).any()


def test_a_table_as_gavel_publishes_it(tmp_path):
    rates = {"null": 4.0, "('b', 1)": [3.0, 1.0], "('a', 1)": [0.0, 0.0]}
    table = {
        "v100": {"('a', 1)": rates, "('b', 1)": {"null": 2.0, "('a', 1)": [1.0, 3.0]}},
        "k80": {"('a', 1)": {"null": 1.0}},
        "k80_unconsolidated": {"('a', 1)": {"null": 0.5}},
    }
    path = tmp_path / "throughputs.json"
    path.write_text(json.dumps(table))
    read = throughputs(str(path))
    assert read.gpu_types == ("k80", "v100")
    assert read.of([("a", 1), ("b", 1)]).tolist() == [[1.0, 4.0], [0.0, 2.0]]
    assert read.shared([("a", 1), ("b", 1)])[:, :, 1].tolist() == [[0.0, 3.0], [1.0, 0.0]]


def test_the_two_are_equal():
    if not GAVEL.is_file():
        pytest.skip(f"absent: {GAVEL}")
    ours, theirs = throughputs(), throughputs(str(GAVEL))
    kinds = list(theirs.alone)
    assert sorted(ours.alone) == sorted(kinds)
    assert np.array_equal(ours.of(kinds), theirs.of(kinds))
    assert np.array_equal(ours.shared(kinds), theirs.shared(kinds))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: throughputs().of([("ResNet-18 (batch size 17)", 1)]), "did you mean"),
        (lambda: throughputs().of([("A3C", 2)]), "was measured on 1 GPUs"),
        (lambda: throughputs().of([RESNET], ["a100"]), "no throughputs on GPUs of type 'a100'"),
        (lambda: throughputs("/absent.json"), "cannot be read"),
    ],
)
def test_what_is_not_there_is_told(ask, words):
    with pytest.raises(BloxError, match=words.replace("(", r"\(")):
        ask()


def test_a_file_of_something_else_is_told(tmp_path):
    path = tmp_path / "other.json"
    path.write_text('{"v100": {"a": 1}}')
    with pytest.raises(BloxError, match="is not a table of throughputs"):
        throughputs(str(path))
