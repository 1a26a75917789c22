"""Tables 3 and 7 are counted in the tree itself, and judged by their rules."""

from functools import cache

import pytest

from blox.reproduce import Setting, source_tree, table3, table7
from blox.reproduce.scheduler_parts import PAPER, PARTS, by_abstraction, counted


@pytest.fixture(scope="module", autouse=True)
def _each_module_is_read_once():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_tree, "code_lines", cache(source_tree.code_lines))
        yield


@pytest.fixture(scope="module")
def modules():
    return counted()


def test_lines_of_code_leave_out_blanks_comments_and_docstrings(monkeypatch):
    text = (
        '"""Doc\n\nstring."""\n\n# a comment\nX = """a\nb"""  # two lines\n\n\n'
        'def f():\n    "Doc."\n    return X\n'
    )
    monkeypatch.setattr(source_tree, "source", lambda module: text)
    assert source_tree.code_lines("any") == 4


def test_imports_are_followed_and_fifo_takes_its_own(modules):
    assert "blox.schedulers.fifo" in source_tree.fifo_modules()
    assert "blox.loop" not in modules["LAS"] and list(modules["LAS"]) == ["blox.schedulers.las"]
    assert "blox.schedulers.tiresias.queues" in modules["Tiresias"], "through the policy"
    assert not any(name.startswith("blox.schedulers.pollux") for name in modules["Gavel"])


def test_every_scheduler_of_the_paper_is_counted(modules):
    assert list(PARTS) == list(PAPER) == list(modules)
    assert by_abstraction(modules["Pollux"]).keys() >= {"Scheduling Policy", "Workload Generation"}
    for page in (table3.PAGE, table7.PAGE):
        finding = page.judged(page.measure(Setting()))
        assert {row[0] for row in finding.table.rows} == set(PAPER)


def test_what_goes_beyond_the_originals_is_taken_off_once(modules):
    cause = table3.Beyond().cause([])
    numbers = {name: [] for name in table3.BEYOND}
    for name, _, lines in cause.table.rows:
        numbers[name].append(int(lines.replace(",", "")))
    for name, (whole, *pieces, rest) in numbers.items():
        assert whole == sum(modules[name].values())
        assert whole + sum(pieces) == rest > 0 and all(piece < 0 for piece in pieces)


@pytest.mark.parametrize(
    ("sizes", "word"),
    [
        ([(1, 50), (2, 300), (3, 999), (3, 10), (4, 5000)], "holds"),
        ([(1, 50), (2, 3000), (3, 999), (3, 10), (4, 5000)], "holds in part"),
        ([(5, 50), (5, 300), (5, 99), (5, 10), (1, 5000)], "holds in part"),
        ([(5, 50), (5, 300), (1, 999), (1, 1000), (1, 5000)], "does not hold"),
    ],
)
def test_table_3(sizes, word):
    assert table3.judge(dict(zip("abcde", sizes))).word == word


@pytest.mark.parametrize(
    ("shares", "word"),
    [((0.9, 0.75, 0.8), "holds"), ((0.9, 0.8, 0.7), "holds in part"), ((0.9, 0.6, 0.7), "does not hold")],
)
def test_table_7(shares, word):
    assert table7.judge(dict(zip("abc", shares))).word == word
