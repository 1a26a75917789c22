"""Reservations and maintenance windows: what starts before, during and after them, worked out by hand."""

import pytest

from blox import BloxError, Experiment

MAINTENANCE = '[[reservation]]\nname = "firmware"\nbegin = 100\nlasts = 50\nnodes = ["node-1"]\n'
KEPT = MAINTENANCE + 'tenants = ["A"]\n'
HEAD = "job_id,submit_s,gpus,duration_s,tenant,limit_s\n"


def run(tmp_path, windows, lines, cluster="2x2", **settings):
    (tmp_path / "windows.toml").write_text(windows)
    (tmp_path / "t.csv").write_text(HEAD + "\n".join(lines))
    common = {
        "workload": str(tmp_path / "t.csv"), "cluster": cluster, "placement": "consolidated",
        "belief": "limit", "clock": "events", "scheduler": "fifo:strict=false",
        "failures": f"reserve:{tmp_path / 'windows.toml'}",
    }  # fmt: skip
    return Experiment(**{**common, **settings}).run()


@pytest.mark.parametrize(
    "scheduler", ["fifo:strict=false", "backfill", "backfill:kind=conservative", "queues"]
)
@pytest.mark.parametrize("placement", ["consolidated", "first-free"])
def test_a_job_that_would_not_end_in_time_starts_elsewhere_or_later(scheduler, placement, tmp_path):
    """a takes node 0 until 200. b would end at 120, in the middle: it waits for node 1 to be back at 150.

    c is through at 100, when the maintenance begins.
    """
    lines = ["a,0,2,200,A,200", "b,0,2,120,A,120", "c,0,2,100,A,100"]
    result = run(tmp_path, MAINTENANCE, lines, scheduler=scheduler, placement=placement)
    assert result.jobs["first_start_s"].tolist() == [0, 150, 0]
    assert result.jobs["preemptions"].sum() == 0


@pytest.mark.parametrize("kind", ["easy", "conservative"])
def test_a_start_that_slips_to_the_next_round_keeps_out_of_a_window(kind, tmp_path):
    """b is reserved the GPUs that a frees at 31, and would be through at 91. The round begins at 60: b would
    run into the maintenance at 100, and starts when that has ended, at 180. c, behind it, is through by then.
    """
    windows = MAINTENANCE.replace("node-1", "node-0")
    lines = ["a,0,2,31,A,31", "b,0,2,60,A,60", "c,60,1,40,A,40"]
    result = run(
        tmp_path, windows, lines, cluster="1x2", scheduler=f"backfill:kind={kind}", clock="rounds", round_s=60
    )
    assert result.jobs["first_start_s"].tolist() == [0, 180, 60]
    assert result.jobs["preemptions"].tolist() == [0, 0, 0]


def test_one_that_takes_longer_than_believed_stops_with_its_work_saved(tmp_path):
    """a is believed to end at 90 and takes 130: at 100 it stops, and 30 s are left at 150."""
    result = run(tmp_path, MAINTENANCE.replace("node-1", "node-0"), ["a,0,2,130,A,90"], cluster="1x2")
    assert result.jobs["finish_s"].tolist() == [180]


def test_a_reservation_is_for_its_tenants(tmp_path):
    """x keeps node 0 busy. From 100 to 150 node 1 is A's: b of B waits for its end, a of A starts in it."""
    lines = ["x,0,2,500,B,500", "y,0,2,90,B,90", "b,10,2,60,B,60", "a,110,2,30,A,30"]
    result = run(tmp_path, KEPT, lines)
    assert result.jobs["first_start_s"].tolist() == [0, 0, 150, 110]


def test_why_a_job_waits_names_the_reservation(tmp_path):
    result = run(tmp_path, MAINTENANCE, ["a,0,2,200,A,200", "b,0,2,120,A,120"])
    assert "free nodes are reserved (firmware) before it would end" in result.reasons["because"].tolist()


def test_the_command_takes_it_beside_failures(tmp_path, command):
    (tmp_path / "windows.toml").write_text(MAINTENANCE)
    shown = command(
        "run", "--workload", "constant:jobs=3", "--cluster", "2x2",
        "--reservation", tmp_path / "windows.toml", "--failures", "mtbf=400d,repair=1h",
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert shown.code == 0, shown.err
    kept = (tmp_path / "out" / "experiment.toml").read_text()
    assert f"mtbf=400d,repair=1h+reserve:{tmp_path / 'windows.toml'}" in kept


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no reservations"),
        ("[[reservation]]\nbegin = 1\n", "lasts is missing"),
        (MAINTENANCE.replace("node-1", "node-9"), "no node is called 'node-9'"),
        (MAINTENANCE.replace("50", "0"), "lasts is 0 s"),
        (MAINTENANCE.replace("100", '"soon"'), "'soon' is not a duration"),
        (MAINTENANCE + "tenant = 'A'\n", "no setting is called 'tenant'"),
        (MAINTENANCE.replace('["node-1"]', "3"), "nodes is 3"),
        (MAINTENANCE + MAINTENANCE, "is down already"),
    ],
)
def test_a_file_that_cannot_be_is_told(text, words, tmp_path):
    with pytest.raises(BloxError) as told:
        run(tmp_path, text, ["a,0,1,5,A,5"])
    assert words in told.value.text()


@pytest.mark.parametrize("parts", [{"placement": "count"}, {"scheduler": "pollux"}, {"placement": "synergy"}])
def test_parts_that_would_not_keep_to_it_are_refused(parts, tmp_path):
    with pytest.raises(BloxError, match="which do not plan around them"):
        run(tmp_path, MAINTENANCE, ["a,0,1,5,A,5"], **parts)
