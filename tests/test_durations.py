"""Durations as people write them."""

import pytest

from blox.durations import duration_text, parse_duration
from blox.errors import BloxError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30d", 30 * 86400),
        ("4h", 14400),
        ("90m", 5400),
        ("45s", 45),
        ("45", 45),
        ("0", 0),
        ("1.5h", 5400),
        (" 2 h ", 7200),
        ("1e3", 1000),
        (".5m", 30),
        ("never", float("inf")),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "4 hours", "-4h", "nan", "inf", "1e400", "4h30m", "4w", "1,5h"])
def test_anything_else_is_refused_with_the_forms(text):
    with pytest.raises(BloxError, match=r"is not a duration\n  fix: write 30d, 4h, 90m, 45s") as caught:
        parse_duration(text, where="repair")
    assert caught.value.where == "repair"


@pytest.mark.parametrize("text", ["30d", "36h", "90m", "45s", "0s", "0.1s", "1234567.25s", "never"])
def test_a_duration_is_written_as_it_is_read(text):
    assert duration_text(parse_duration(text)) == text
