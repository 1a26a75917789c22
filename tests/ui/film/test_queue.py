"""The queue at a moment: as the scheduler had it where that is known, by submission where it is not."""

import numpy as np
import pytest

from blox.errors import BloxError
from blox.explain import Explanation, Round
from blox.results.coded_decisions import CodedDecisions
from blox.results.decisions import Decisions
from blox.ui.film import order as orders
from blox.ui.film.order import Order
from blox.ui.film.queue import queue_at
from blox.ui.film.runs import Filmed
from support.waiting import eventually


def settled(filmed):
    """The order of a run, once it is known or known not to be."""
    order = Order(filmed)
    order.ask()
    assert eventually(lambda: order.state != "working")
    return order


def moments(result):
    """Times between rounds, at rounds, and off both ends."""
    times = result.rounds["time_s"]
    return [
        -1.0,
        *times[:: max(len(times) // 12, 1)].tolist(),
        float(times[3]) + 17.0,
        float(times[-1]) + 1e6,
    ]


def test_coded_decisions_answer_like_the_file(kept, one):
    folder, jobs = kept(trace_decisions=True), 60
    coded = CodedDecisions.of_file(folder / "decisions.parquet", jobs)
    plain = Decisions.of_file(folder / "decisions.parquet", jobs)
    for time_s in moments(one(trace_decisions=True).result):
        ours, theirs = coded.at(time_s), plain.at(time_s)
        assert set(ours) == set(theirs)
        for name in theirs:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6) if name.startswith(
                "key_"
            ) else np.testing.assert_array_equal(ours[name], theirs[name])


def test_a_traced_run_shows_its_own_order(one):
    filmed = one(trace_decisions=True)
    order, result, waited = settled(filmed), filmed.result, 0
    assert order.state == "known" and order.why == ""
    for time_s in moments(result):
        found = queue_at(result, order, time_s)
        decided = Round(result.decisions.at(time_s), result.jobs["job_id"])
        places = [row[0] for row in found["rows"] if row[0]]
        assert places == sorted(places) and found["note"] == ""
        waiting = {each.row: each for each in decided.standings if not each.held_gpus}
        for place, row, gpus, keys, cause, because in found["rows"]:
            if cause in ("arrival", "eviction"):
                continue
            each = waiting[row]
            waited += 1
            assert (place, gpus, cause, because) == (
                each.place, each.gpus, each.cause, decided.blocked_by(each)
            )  # fmt: skip
            assert keys == pytest.approx(list(each.keys), rel=1e-5)
    assert waited > 20


@pytest.mark.slow
def test_an_untraced_run_is_run_again_for_its_order(one):
    filmed = one()
    order = settled(filmed)
    assert order.state == "known"
    traced = settled(one(trace_decisions=True))
    for time_s in moments(filmed.result):
        assert queue_at(filmed.result, order, time_s) == queue_at(filmed.result, traced, time_s)


@pytest.mark.parametrize(
    "settings", [{}, {"failures": "random:mtbf=20h,repair=2h"}, {"admission": "threshold"}]
)
def test_the_jobs_and_causes_by_submission_are_those_of_explain(one, settings, monkeypatch):
    monkeypatch.setattr(orders, "MOST_ROWS", 0)
    filmed = one(**settings)
    result, order, explanation = filmed.result, settled(filmed), Explanation(filmed.result)
    assert order.state == "unknown" and "at most 0 are held" in order.why
    for time_s in moments(result):
        found = queue_at(result, order, time_s, most=1000)
        assert found["waiting"] == len(found["rows"]) and "not known" in found["note"]
        told = {row: cause for _, row, *_, cause, _ in found["rows"]}
        for row in range(len(result.jobs["job_id"])):
            now = [each for each in explanation.history(row) if each.start_s <= time_s < each.end_s]
            state = now[0].state if now else "running"
            if state == "eviction":  # without a round since, counting has no word of its own for it
                assert row in told
            else:
                assert told.get(row, "running") == state, (row, time_s)


@pytest.mark.slow
def test_results_that_do_not_come_out_again_have_no_order(one, tmp_path):
    filmed = one()
    copy = filmed.result.save(tmp_path / "changed")
    text = (copy / "jobs.csv").read_text().replace("vc0", "vc9")
    (copy / "jobs.csv").write_text(text)
    order = settled(Filmed(filmed.result, copy))
    assert order.state == "unknown" and "decides otherwise" in order.why
    toml = (copy / "experiment.toml").read_text().replace("philly:load", "philly2:load")
    (copy / "experiment.toml").write_text(toml)
    order = settled(Filmed(filmed.result, copy))
    assert order.state == "unknown" and "philly2" in order.why


def test_a_run_of_real_processes_is_not_run_again(one):
    filmed = one(seed=9)
    filmed.result.experiment["backend"] = "cluster"
    order = settled(filmed)
    filmed.result.experiment["backend"] = "simulation"
    assert order.state == "unknown" and "real processes" in order.why


def test_closing_ends_what_runs_in_the_background(one):
    order = Order(one(seed=3))
    order.close()
    order.ask()
    assert eventually(lambda: order.state == "unknown")


def test_damaged_decisions_are_named(kept, tmp_path):
    broken = tmp_path / "decisions.parquet"
    broken.write_bytes((kept(trace_decisions=True) / "decisions.parquet").read_bytes()[:-20])
    with pytest.raises(BloxError, match="damaged"):
        CodedDecisions.of_file(broken, 60)
