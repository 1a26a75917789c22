"""What Themis promises: equal shares for equals, no gain by lying, nobody worse off than alone."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blox import Experiment
from blox.checks import check
from blox.schedulers.themis.auction import auction, bid_by_machine
from blox.schedulers.themis.rho import AppJob, rho
from blox.schedulers.themis.wants import Want
from support.examples import examples
from support.traces import trace

EXAMPLES = examples(150)


@dataclasses.dataclass(frozen=True)
class App:
    """A fresh app of one job that scales perfectly: its value is in proportion to its GPUs."""

    work: float
    most: int

    def rho(self, gpus, apps, cluster):
        """Also for parts of GPUs: what the auction leaves before rounding."""
        if gpus <= 0:
            return math.inf
        return (self.work / min(gpus, self.most)) / (self.work / min(cluster, self.most) * apps)

    def bid(self, free, apps, cluster):
        def worth(bundle):
            job = AppJob(self.work, self.work, 1.0, self.most, sum(bundle))
            return 1 / rho([job], cluster, apps, 0.0)

        return bid_by_machine(free, self.most, worth)


@EXAMPLES
@given(count=st.integers(1, 6), gpus=st.integers(1, 24), work=st.floats(10, 1e6), machines=st.integers(1, 2))
def test_equal_apps_get_equal_shares(count, gpus, work, machines):
    free = (gpus // machines,) * machines
    total = sum(free)
    if not total:
        return
    bids = [App(work, total).bid(free, count, total) for _ in range(count)]
    outcomes = auction(bids, free)
    fair = [sum(outcome.bundle) for outcome in outcomes]
    assert max(fair) - min(fair) <= 1
    assert sum(fair) == total
    if total % count == 0:
        assert len(set(fair)) == 1
        assert [outcome.kept for outcome in outcomes] == pytest.approx([outcomes[0].kept] * count)
        assert len({outcome.whole_gpus for outcome in outcomes}) == 1


@EXAMPLES
@given(data=st.data(), count=st.integers(2, 5), each=st.integers(1, 6))
def test_a_lie_never_lowers_the_liars_rho(data, count, each):
    """Values in proportion to GPUs, an offer that equals can divide: claiming more or less work, or that
    fewer GPUs could be used than can, leaves the liar with no lower rho, before rounding and after.
    """
    total = count * each
    works = data.draw(st.lists(st.floats(10, 1e6), min_size=count, max_size=count))
    true = [App(work, total) for work in works]
    lie = App(data.draw(st.floats(10, 1e6)), data.draw(st.integers(1, total)))
    liar = data.draw(st.integers(0, count - 1))

    def outcome_of(apps):
        bids = [app.bid((total,), count, total) for app in apps]
        return auction(bids, (total,))[liar]

    honest = outcome_of(true)
    told = outcome_of([lie if place == liar else app for place, app in enumerate(true)])
    for share in ("share", "whole_gpus"):
        won, without = (getattr(outcome, share) for outcome in (told, honest))
        assert true[liar].rho(won, count, total) >= true[liar].rho(without, count, total) * (1 - 1e-9)


@EXAMPLES
@given(count=st.integers(1, 5), gpus=st.integers(1, 9), data=st.data())
def test_the_auction_is_optimal(count, gpus, data):
    """No other way to hand out the GPUs has more winners, or as many and a larger product."""
    values = st.one_of(st.just(0.0), st.floats(0.01, 100))
    tables = [data.draw(st.lists(values, min_size=gpus + 1, max_size=gpus + 1)) for _ in range(count)]
    bids = [bid_by_machine((gpus,), gpus, lambda b, table=table: table[b[0]]) for table in tables]

    def key(counts):
        worth = [table[c] for table, c in zip(tables, counts)]
        return sum(v > 0 for v in worth), math.prod(v for v in worth if v > 0)

    found = key([outcome.bundle[0] for outcome in auction(bids, (gpus,))])
    ways = [c for c in np.ndindex(*(gpus + 1,) * count) if sum(c) <= gpus] if count <= 3 else []
    for way in ways:
        other = key(way)
        assert found[0] >= other[0]
        if found[0] == other[0]:
            assert found[1] >= other[1] * (1 - 1e-6)


def test_payments_withhold_gpus_and_can_be_switched_off():
    bids = [App(1000.0, 4).bid((4,), 2, 4) for _ in range(2)]
    assert [outcome.whole_gpus for outcome in auction(bids, (4,))] == [1, 1]
    assert [outcome.whole_gpus for outcome in auction(bids, (4,), payments=False)] == [2, 2]


def test_sharing_incentive_where_nobody_has_to_wait(tmp_path):
    """On an uncontended cluster no app is worse off than with its own part of it."""
    rows = [(i, 300 * (i % 7), 1 + i % 4, 900 + 100 * i) for i in range(20)]
    rows.sort(key=lambda row: row[1])
    result = Experiment(workload=trace(tmp_path / "t.csv", rows), scheduler="themis", cluster="16x4").run()
    assert (result.jobs["preemptions"] == 0).all()
    assert (result.jobs["jct_s"] <= [row[3] + 1e-6 for row in rows]).all()


def test_a_lease_is_never_cut_short(tmp_path):
    rows = [(i, 60 * i, 1 + i % 3, 2000 + 313 * (i % 5)) for i in range(40)]
    result = Experiment(workload=trace(tmp_path / "t.csv", rows), scheduler="themis", cluster="2x4").run()
    stints = result.stints
    length = stints["end_s"] - stints["start_s"]
    ended = np.isclose(stints["end_s"], result.jobs["finish_s"][stints["job"]])
    assert (length[~ended] % 1200 == 0).all() and result.summary["preemptions"] > 0


def test_apps_are_jobs_of_one_user(tmp_path):
    """One user with many jobs does not crowd out another with one."""
    rows = [(f"many-{i}", 0, 1, 6000, "ann") for i in range(12)] + [("one", 300, 1, 6000, "bob")]
    path = trace(tmp_path / "t.csv", rows, "job_id,submit_s,gpus,duration_s,user")
    by_user, by_job = (
        Experiment(workload=path, scheduler=f"themis:apps={apps},f=0.5", cluster="1x4", seed=3).run().jobs
        for apps in ("user", "job")
    )
    one = int(np.flatnonzero(by_user["job_id"] == "one")[0])
    assert by_user["finish_s"][one] <= by_job["finish_s"][one]
    assert by_user["first_start_s"][one] <= 1200 + 300


def test_elastic_jobs_bid_for_less_than_all(tmp_path):
    header = "job_id,submit_s,gpus,duration_s,min_gpus,max_gpus"
    rows = [(i, 0, 4, 3600, 1, 4) for i in range(4)]
    path = trace(tmp_path / "t.csv", rows, header)
    result = Experiment(workload=path, scheduler="themis:f=0,payments=false", cluster="2x4").run()
    assert (result.jobs["first_start_s"] == 0).all()


@pytest.mark.parametrize(
    "spec",
    [
        "themis:f=0,apps=user",
        "themis:payments=false,aligned=true,apps=tenant",
        "themis:spread=2,f=0.5",
        "ftf:form=gavel",
        "ftf:form=synergy,strict=true",
    ],
)
def test_options_conform(spec):
    report = check(spec, "scheduling")
    assert report.ok, report


def test_f_trades_jct_for_fairness():
    """At a load at which jobs wait now and then: larger f, fairer finishes, longer JCTs (two seeds)."""

    def figures(f):
        runs = [
            Experiment(
                workload="gavel:multi=true,offered=1.2,gpus=32,jobs=150",
                cluster="4x8",
                placement="count",
                scheduler=f"themis:f={f}",
                seed=seed,
            ).run()
            for seed in (1, 2)
        ]
        return [np.mean([run.summary[name] for run in runs]) for name in ("max_rho", "rho_jain", "avg_jct_s")]

    (loose_rho, loose_jain, loose_jct), (rho, jain, jct) = figures(0.0), figures(0.9)
    assert rho < loose_rho and jain > loose_jain
    assert jct > loose_jct


def test_what_is_left_over_goes_out_by_the_least_step():
    """An app of an elastic job (1, 2, 4, 8 GPUs) and a rigid one of 2: start all, then grow."""
    want = Want(((0, (1, 2, 4, 8)), (1, (2,))))
    granted, steps = {}, []
    while (step := want.next_step(granted, 6 - sum(granted.values()))) is not None:
        granted[step[0]] = step[1]
        steps.append(step)
    assert steps == [(0, 1), (1, 2), (0, 2), (0, 4)]
    assert want.next_step({}, 0) is None and want.next_step({0: 1}, 1) == (0, 2)


def test_a_switch_that_does_nothing_changes_nothing():
    """Rigid jobs never pay: with the same draws, runs with payments and without are the same."""
    on, off = (
        Experiment(
            workload="gavel:multi=true,offered=2,gpus=16,jobs=40",
            cluster="2x8",
            scheduler=f"themis:payments={payments}",
        ).run()
        for payments in ("true", "false")
    )
    assert on.summary["preemptions"] > 0
    assert on.jobs["finish_s"].tolist() == off.jobs["finish_s"].tolist()
