"""The pages for operators can be followed: today's schedulers, and the way from a log to a decision."""

from blox.results.result import Result
from support.pages import follow
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
