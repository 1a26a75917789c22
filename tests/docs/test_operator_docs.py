"""The pages for operators can be followed: today's schedulers, and the way from a log to a decision."""

import itertools

from blox.results.result import Result
from support.pages import commands, follow
from support.places import ROOT


def test_todays_schedulers_can_be_followed(tmp_path):
    """Every scheduler, quota and reservation of the page runs on its log, here a shorter one."""
    page = ROOT / "docs" / "todays-schedulers.md"
    typed = follow(page, tmp_path, [(". 1500 8", ". 250 8"), ("jobs=600", "jobs=150")])
    assert {path.name for path in tmp_path.glob("*.toml")} == {
        *("shares.toml", "queues.toml", "quota.toml", "windows.toml"),
    }
    calibrated = next(text for command, text in typed.items() if "--calibrate" in command)
    assert "backfill in simulation: jobs wait" in calibrated and "nearly right" in calibrated
    assert (tmp_path / "results" / "calibrated" / "calibration.csv").is_file()
    by_tenant = next(text for command, text in typed.items() if "--by tenant" in command)
    assert all(name in by_tenant for name in ("vision", "queues", "drf", "what really"))
    tenants = Result.load(tmp_path / "results" / "quota").tables["tenants"]
    assert {"vision", "speech"} <= set(tenants["tenant"].tolist())


def test_an_operator_chooses(tmp_path):
    """On shorter logs, without pictures, and with fewer loads; the page shows the figures of the whole."""
    page = (ROOT / "docs" / "choosing.md").read_text()
    smaller = [
        (". 2000 8", ". 200 4"),
        (
            "sinfo.txt --out results/decision",
            "sinfo.txt --scheduler las --resamples 2 --out results/decision",
        ),
        *((f"--jobs {count}", "--jobs 60") for count in (14000, 5000, 18000)),
        *((f'"{log}.csv", "{log}.csv?scale=0.9",', f'"{log}.csv",') for log in ("research", "bursts")),
        *((f'"{log}.csv", "{log}.csv?scale=0.8"', f'"{log}.csv"') for log in ("research", "bursts")),
        *((f"{word} --out", f"{word} --no-report --out") for word in ("fifo", "gpus", "spread", "sigma=1")),
    ]
    typed = follow(page, tmp_path, smaller)
    assert "valid, 3 jobs" in next(text for command, text in typed.items() if "validate" in command)
    assert len(list((tmp_path / "results" / "study" / "runs").iterdir())) == 5 * 6
    rule = "python rule.py | grep training"
    followed, shown = typed[rule].splitlines(), dict(commands(page))[rule]
    assert [line.split()[:2] for line in followed] == [line.split()[:2] for line in shown]
    check_heads(page, typed, smaller)
    assert (tmp_path / "results" / "decision" / "decision.html").is_file()


def check_heads(page, typed, smaller):
    """Every table that the page shows has the columns that the command prints: figures differ, forms do not.

    Units follow the figures; tables of differences need more days than the small logs have.
    """
    asked = 0
    for command, shown in commands(page):
        for words, others in smaller:
            command = command.replace(words, others)
        printed = {_names(line) for line in typed[command].splitlines()}
        for above, line in itertools.pairwise(shown):
            if line.startswith("───") and "average JCT" not in above and "decide" not in command:
                asked += 1
                assert _names(above) in printed, f"{command}\nprints no table with the columns\n{above}"
    assert asked == 8, "tables on the page"


def _names(head):
    """The words of the last line of a head, without units."""
    return " ".join(word for word in head.split() if word not in ("s", "min", "h", "d", "%"))
