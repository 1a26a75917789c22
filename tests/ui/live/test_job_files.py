"""What is read of a job's files: the end of a log, and curves whose extremes are kept."""

import json

from blox.cluster.shell.place import Place
from blox.ui.live.job_files import LOG_BYTES, curves_of, log_of, thinned


def test_the_end_of_a_log_is_shown(tmp_path):
    place = Place(tmp_path)
    assert log_of(place, 3, 0) == {"ranks": [], "text": "", "cut": False}
    place.job(3).mkdir(parents=True)
    (place.job(3) / "rank-0.log").write_bytes(b"x" * LOG_BYTES + b"the end \xff\n")
    (place.job(3) / "rank-11.log").write_text("eleven")
    found = log_of(place, 3, 0)
    assert found["ranks"] == [0, 11] and found["cut"] and found["text"].endswith("the end \ufffd\n")
    assert len(found["text"]) == LOG_BYTES
    assert log_of(place, 3, 11) == {"ranks": [0, 11], "text": "eleven", "cut": False}
    assert log_of(place, 3, 5)["text"] == ""


def test_curves_are_by_name_and_a_half_written_line_is_passed_over(tmp_path):
    place = Place(tmp_path)
    assert curves_of(place, 3) == {}
    place.job(3).mkdir(parents=True)
    lines = [
        json.dumps([1.0, 10, {"loss": 2.0}]),
        json.dumps([2.0, 20, {"loss": 1.0, "lr": 0.1}]),
        "[3.0, 30",
    ]
    (place.job(3) / "metrics.jsonl").write_text("\n".join(lines))
    assert curves_of(place, 3) == {"loss": [[10, 2.0], [20, 1.0]], "lr": [[20, 0.1]]}


def test_a_long_curve_keeps_its_extremes_and_its_ends():
    points = [[i, float(i % 7)] for i in range(10_000)]
    points[4321][1], points[8765][1] = 99.0, -99.0
    kept = thinned(points, 400)
    assert len(kept) <= 410 and kept[0] == points[0] and kept[-1] == points[-1]
    assert [4321, 99.0] in kept and [8765, -99.0] in kept
    assert thinned(points[:10], 400) == points[:10]
