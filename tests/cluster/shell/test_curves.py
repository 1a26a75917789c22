"""What jobs push over time is kept beside their logs, thinned where there is much of it."""

import json

from blox.cluster.shell import curves
from blox.cluster.shell.curves import Curves
from blox.cluster.shell.place import Place


def lines(place, job=4):
    return [json.loads(line) for line in (place.job(job) / curves.FILE).read_text().splitlines()]


def test_a_line_is_written_when_numbers_change_and_a_second_has_passed(tmp_path, monkeypatch):
    place, now = Place(tmp_path), [100.0]
    place.job(4).mkdir(parents=True)
    monkeypatch.setattr(curves.time, "time", lambda: now[0])
    written = Curves(place)
    first, second = {"loss": 2.5}, {"loss": 2.25}
    for time_s, iteration, metrics in (
        (100.0, 1, first), (101.5, 2, first), (101.6, 3, second), (101.7, 4, {"loss": 9.0}), (103.0, 5, {}),
    ):  # fmt: skip
        now[0] = time_s
        written.note(4, iteration, metrics)
    assert lines(place) == [[100.0, 1, first], [101.6, 3, second]]


def test_a_long_file_keeps_every_second_line(tmp_path, monkeypatch):
    place = Place(tmp_path)
    place.job(4).mkdir(parents=True)
    monkeypatch.setattr(curves, "_EVERY_S", 0.0)
    monkeypatch.setattr(curves, "_LARGEST", 4000)
    written = Curves(place)
    for iteration in range(500):
        written.note(4, iteration, {"loss": 1.0 / (iteration + 1)})
    kept = [iteration for _, iteration, _ in lines(place)]
    assert kept[0] == 0 and kept == sorted(kept) and 30 < len(kept) < 120
    assert (place.job(4) / curves.FILE).stat().st_size <= 4100


def test_a_job_without_a_directory_disturbs_nothing(tmp_path):
    Curves(Place(tmp_path)).note(4, 1, {"loss": 1.0})
