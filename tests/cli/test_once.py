"""An option that takes one value is not given twice."""

import pytest


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["run", "--scheduler", "fifo", "--scheduler", "las"], "--scheduler"),
        (["run", "--failures", "mtbf=3d,repair=1h", "--failures=drain:node=0,at=10h"], "--failures"),
        (["compare", "--overheads", "launch=30", "--overheads", "launch=60"], "--overheads"),
    ],
)
def test_a_second_value_is_refused_and_not_taken_for_the_first(words, option, command):
    answer = command(*words)
    assert answer.code == 2 and f"{option} is given twice" in answer.err


def test_lists_and_flags_may_be_repeated(command, tmp_path):
    words = ["--jobs", 20, "--metric", "evenness", "--metric", "evenness:of=gpu_seconds"]
    answer = command("compare", *words, "--scheduler", "fifo", "--no-report", "--no-report")
    assert "given twice" not in answer.err
