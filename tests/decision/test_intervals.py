"""Intervals from resamples of a log cover: held to logs whose true answer is known."""

import numpy as np
import pytest

from blox.decision.by_block import difference, saved, saved_interval
from blox.decision.digest import Key
from blox.decision.evidence import EVERYONE, Evidence
from blox.decision.study import Study
from blox.decision.words import claim
from blox.results.statistics import resampled_interval
from blox.workloads.generators.resampled import blocks_of, joined
from support.states import job_table

WEEK_S, WEEKS, JOBS = 7 * 86400.0, 12, 20


def test_they_cover_the_truth_as_often_as_they_say():
    """A job's gain is 5, plus what its week has (sd 2), plus what it has itself (sd 3): known, and dependent.

    Of 300 logs of 12 weeks, 95 % of the intervals from 10 resamples should hold 5; by chance 91 to 98 % do.
    """
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        week = np.repeat(np.arange(WEEKS), JOBS)
        submit = week * WEEK_S + np.sort(rng.uniform(0, WEEK_S - 1, len(week)))
        gain = 5 + rng.normal(0, 2, WEEKS)[week] + rng.normal(0, 3, len(week))
        table = job_table([1] * len(week), submit_s=np.sort(submit), deadline_s=1e10 + gain)
        blocks = blocks_of(table, WEEK_S)
        resampled = [gains(joined(table, blocks, WEEK_S, rng), table).mean() for _ in range(10)]
        found = resampled_interval(float(gain.mean()), np.array(resampled), len(blocks))
        held += found.low <= 5 <= found.high
    assert 0.91 <= held / 300 <= 0.99


def gains(drawn, table):
    """The gain of each drawn job, looked up by its id."""
    of = dict(zip(table.columns["job_id"].tolist(), (table.columns["deadline_s"] - 1e10).tolist()))
    return np.array([of[name.partition(" of block ")[0]] for name in drawn.columns["job_id"].tolist()])


def test_blocks_are_drawn_whole_and_keep_their_times():
    table = job_table(
        [1] * 6, submit_s=[0.0, 10, 100, 150, 200, 299], logged_start_s=[5.0, 11, 100, 160, 250, 300]
    )
    blocks = blocks_of(table, 100.0)
    assert [block.tolist() for block in blocks] == [[0, 1], [2, 3, 4, 5]], (
        "the short end joins the one before"
    )
    drawn = joined(table, blocks, 100.0, np.random.default_rng(3))
    drawn.validate()
    waited = drawn.columns["logged_start_s"] - drawn.columns["submit_s"]
    of = {name: start - submit for name, start, submit in zip(
        table.columns["job_id"], table.columns["logged_start_s"], table.columns["submit_s"], strict=True
    )}  # fmt: skip
    assert waited.tolist() == [of[name.partition(" of ")[0]] for name in drawn.columns["job_id"].tolist()]
    assert (np.diff(drawn.columns["submit_s"]) >= 0).all()


@pytest.mark.parametrize(("values", "blocks"), [([1.0], 5), ([1.0, float("nan")], 5), ([1.0, 2.0], 1)])
def test_too_little_gives_no_interval(values, blocks):
    assert resampled_interval(1.0, np.array(values), blocks) is None


def test_an_interval_excludes_0_only_where_the_estimate_and_the_resamples_do():
    """Changes in seconds of one log of 6 days, as resamples of single days gave them."""
    drawn = np.array([-579.0, -21, -14, -712, 0, -1042, -1028, -2881, -980, -132])
    found = resampled_interval(-3772.0, drawn, 6)
    around = resampled_interval(float(drawn.mean()), drawn, 6)
    assert found.estimate == -3772 and not found.excludes_zero
    assert found.low < -3772 and found.high == around.high, "from below the one to above the other"
    assert resampled_interval(-3772.0, drawn - 5000, 6).high < 0
    assert not resampled_interval(3772.0, drawn - 5000, 6).excludes_zero, "they show opposite changes"


def decided(resampled, on_log=-3600.0):
    """The evidence of a scheduler whose average JCT changes so on the log and on its resamples."""
    key = Key(*EVERYONE, "jct_s")
    study = Study("log.csv", "1x4", "fifo", ("las",), resamples=len(resampled), block=86400.0)
    vars(study)["blocks"] = 12  # of a log that is not read
    return Evidence(
        study,
        {"fifo": {key: 9000.0}, "las": {key: 9000.0 + on_log}},
        {"fifo": [{key: 9000.0}] * len(resampled), "las": [{key: 9000.0 + each} for each in resampled]},
        {},
    )


def test_a_change_is_claimed_only_if_the_resamples_show_it():
    assert claim(decided([-3000.0, -3300, -2700, -3100, -2900, -3050])).startswith("Change from fifo to las")
    told = claim(decided([-579.0, -21, -14, -712, 0, -1042, -1028, -2881, -980, -132]))
    assert told.startswith("Keep fifo: las, the best of the shortlist, cannot be told from it")


@pytest.mark.parametrize(
    ("resampled", "why"),
    [
        ([-3000.0, -3100, -2900], "3 resamples are too few for intervals: give --resamples 10"),
        ([0.0] * 10, "it is the same in all"),
        ([-3600.0] * 10, "it is the same in all"),
        ([-3000.0, -3100, -2900, -3050, *[float("nan")] * 6], "too few have jobs"),
    ],
)
def test_resamples_that_show_no_variation_give_no_interval_and_that_is_said(resampled, why):
    found = decided(resampled)
    assert found.headline("las") is None and not found.worth_it
    assert claim(found).startswith("Keep fifo: whether las") and why in claim(found)


def run_of(waits, jobs=50.0):
    """What is kept of a run whose blocks have these average waits."""
    figures = {Key("all", "all jobs", "waited_s"): float(np.mean(waits))}
    for at, wait in enumerate(waits):
        figures |= {Key("time", f"week {at}", "jobs"): jobs, Key("time", f"week {at}", "waited_s"): wait}
    return figures


def test_gpus_saved_and_changes_cover_the_truth():
    """A scheduler that waits 300 s less, and 10 s more for every GPU of 100 left out: it saves 30 of them.

    Weeks vary (sd 200 s, shared by all runs), and every run by itself (sd 40 s). Of 300 logs, 95 % of the
    intervals should hold 30, and those of the change 300 s; by chance 91 to 98 % do.
    """
    rng = np.random.default_rng(11)
    held = np.zeros(2)
    for _ in range(300):
        week = 1000 + rng.normal(0, 200, WEEKS)
        present = run_of(week + rng.normal(0, 40, WEEKS))
        smaller = {
            gpus: run_of(week - 300 + 10 * (100 - gpus) + rng.normal(0, 40, WEEKS))
            for gpus in (100, 90, 80, 70, 60, 50)
        }
        saved, change = saved_interval(smaller, present), difference(smaller[100], present, "waited_s")
        held += saved.low <= 30 <= saved.high, change.low <= -300 <= change.high
    assert (held / 300 >= 0.91).all() and (held / 300 <= 0.99).all()


@pytest.mark.parametrize(
    ("waits", "number"),
    [
        ({100: 5.0, 90: 9.0, 80: 13.0}, 12.5),  # 10 is a quarter of the way from 9 to 13
        ({100: 5.0, 90: 9.0}, 10.0),  # never reached: all that were left out
        ({100: 10.0, 90: 20.0}, 0.0),
        ({100: 11.0, 90: 20.0}, 0.0),
        ({100: 10.0, 90: 10.0, 80: 12.0}, 10.0),  # no longer than now
        ({100: float("nan"), 90: float("nan")}, 0.0),
    ],
)
def test_gpus_saved_by_hand(waits, number):
    assert saved(waits, 10.0) == number


def test_few_blocks_give_no_interval():
    one, other = run_of([10.0, 20.0]), run_of([12.0, 22.0])
    assert difference(other, one, "waited_s") is None and saved_interval({8: one}, other) is None
